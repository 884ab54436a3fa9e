package org.hdfsmeld.compatibility;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.objectweb.asm.ConstantDynamic;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.commons.ClassRemapper;
import org.objectweb.asm.commons.Remapper;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * A field or a method that some code uses.
 *
 * @param owner the class it is looked for in, by its internal name
 * @param field whether it is a field
 * @param isStatic whether it is used as a static one
 * @param ofInterface whether the owner is used as an interface; false for fields
 */
record Reference(
    String owner,
    String name,
    String descriptor,
    boolean field,
    boolean isStatic,
    boolean ofInterface) {

  /** The members that a method's code uses, method references included. */
  static List<Reference> of(MethodNode method) {
    List<Reference> all = new ArrayList<>();
    for (AbstractInsnNode instruction : method.instructions) {
      if (instruction instanceof FieldInsnNode f) {
        boolean isStatic = f.getOpcode() == Opcodes.GETSTATIC || f.getOpcode() == Opcodes.PUTSTATIC;
        all.add(new Reference(f.owner, f.name, f.desc, true, isStatic, false));
      } else if (instruction instanceof MethodInsnNode m) {
        boolean isStatic = m.getOpcode() == Opcodes.INVOKESTATIC;
        all.add(new Reference(m.owner, m.name, m.desc, false, isStatic, m.itf));
      } else if (instruction instanceof InvokeDynamicInsnNode d) {
        add(d.bsm, all);
        for (Object argument : d.bsmArgs) {
          add(argument, all);
        }
      } else if (instruction instanceof LdcInsnNode constant) {
        add(constant.cst, all);
      }
    }
    return all;
  }

  private static void add(Object constant, List<Reference> all) {
    if (constant instanceof Handle h) {
      int tag = h.getTag();
      boolean field = tag <= Opcodes.H_PUTSTATIC;
      boolean isStatic =
          tag == Opcodes.H_GETSTATIC || tag == Opcodes.H_PUTSTATIC || tag == Opcodes.H_INVOKESTATIC;
      all.add(
          new Reference(
              h.getOwner(), h.getName(), h.getDesc(), field, isStatic, !field && h.isInterface()));
    } else if (constant instanceof ConstantDynamic d) {
      add(d.getBootstrapMethod(), all);
      for (int i = 0; i < d.getBootstrapMethodArgumentCount(); i++) {
        add(d.getBootstrapMethodArgument(i), all);
      }
    }
  }

  /** Every class that a class names: supertypes, members, signatures, code. */
  static Set<String> classesNamedBy(ClassNode type) {
    Set<String> names = new TreeSet<>();
    Remapper collector =
        new Remapper(Opcodes.ASM9) {
          @Override
          public String map(String internalName) {
            names.add(internalName);
            return internalName;
          }
        };
    type.accept(new ClassRemapper(new ClassNode(), collector));
    return names;
  }

  @Override
  public String toString() {
    return owner + "." + name + (field ? ":" : "") + descriptor;
  }
}
