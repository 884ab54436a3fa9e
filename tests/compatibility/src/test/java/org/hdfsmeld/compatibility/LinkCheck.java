package org.hdfsmeld.compatibility;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Links a class as the JVM would (JVMS 5.4.3 and 5.4.4), but all of it and at once: the JVM links a
 * member when it is first used, which may be days after the start.
 */
final class LinkCheck {
  private final ClassFiles classes;

  /** Links with what is on a class path. */
  LinkCheck(ClassFiles classes) {
    this.classes = classes;
  }

  /** Something found: a class, and what the JVM says of whoever may use it. */
  private record Member(ClassNode owner, int access) {
    boolean has(int flag) {
      return (access & flag) != 0;
    }
  }

  /** Something that does not link, and the method it is in; "" where it is in none. */
  record Problem(String in, String what) {
    @Override
    public String toString() {
      return in.isEmpty() ? what : in + ": " + what;
    }
  }

  /** What of a class does not link. */
  List<Problem> problems(ClassNode type) {
    List<Problem> problems = new ArrayList<>();
    Set<String> missing = new HashSet<>();
    for (String name : Reference.classesNamedBy(type)) {
      ClassNode named = classes.find(name);
      if (named == null) {
        missing.add(name);
        problems.add(new Problem("", type.name + ": no class " + name));
      } else if (!accessible(type, named)) {
        problems.add(new Problem("", type.name + ": no access to class " + name));
      }
    }
    for (MethodNode method : type.methods) {
      String in = type.name + "." + method.name + method.desc;
      for (Reference reference : Set.copyOf(Reference.of(method))) {
        String problem = missing.contains(reference.owner()) ? null : problem(type, reference);
        if (problem != null) {
          problems.add(new Problem(in, problem + " " + reference));
        }
      }
    }
    if ((type.access & Opcodes.ACC_ABSTRACT) == 0) {
      for (String left : unimplemented(type)) {
        problems.add(new Problem("", type.name + ": does not implement " + left));
      }
    }
    return problems;
  }

  /** What is wrong with the use of a member, or null. */
  private String problem(ClassNode user, Reference use) {
    // All arrays have the members of Object, and clone.
    ClassNode owner = classes.find(use.owner().startsWith("[") ? "java/lang/Object" : use.owner());
    boolean isInterface = (owner.access & Opcodes.ACC_INTERFACE) != 0;
    if (!use.field() && !use.owner().startsWith("[") && isInterface != use.ofInterface()) {
      return isInterface ? "an interface now:" : "no interface now:";
    }
    Member found = find(owner, use);
    if (found == null) {
      return use.field() ? "no field" : "no method";
    }
    if (found.has(Opcodes.ACC_STATIC) != use.isStatic()) {
      return use.isStatic() ? "not static:" : "static:";
    }
    boolean open = use.owner().startsWith("[") || accessible(user, found);
    return open ? null : "no access to";
  }

  private Member find(ClassNode owner, Reference use) {
    for (ClassNode at : classes.lineage(owner)) {
      if (use.field()) {
        for (FieldNode field : at.fields) {
          if (field.name.equals(use.name()) && field.desc.equals(use.descriptor())) {
            return new Member(at, field.access);
          }
        }
      } else {
        MethodNode method = method(at, use.name(), use.descriptor());
        if (method == null) {
          method = polymorphic(at, use.name());
        }
        if (method != null) {
          return new Member(at, method.access);
        }
      }
    }
    return null;
  }

  private static MethodNode method(ClassNode type, String name, String descriptor) {
    for (MethodNode method : type.methods) {
      if (method.name.equals(name) && method.desc.equals(descriptor)) {
        return method;
      }
    }
    return null;
  }

  /** The JVM has these for every descriptor (JVMS 2.9.3). */
  private static MethodNode polymorphic(ClassNode type, String name) {
    if (!type.name.equals("java/lang/invoke/VarHandle")
        && !type.name.equals("java/lang/invoke/MethodHandle")) {
      return null;
    }
    int wanted = Opcodes.ACC_NATIVE | Opcodes.ACC_VARARGS;
    for (MethodNode method : type.methods) {
      if (method.name.equals(name) && (method.access & wanted) == wanted) {
        return method;
      }
    }
    return null;
  }

  private static boolean accessible(ClassNode user, ClassNode type) {
    return (type.access & Opcodes.ACC_PUBLIC) != 0 || samePackage(user, type);
  }

  private boolean accessible(ClassNode user, Member member) {
    if (member.has(Opcodes.ACC_PUBLIC)) {
      return true;
    }
    if (member.has(Opcodes.ACC_PRIVATE)) {
      return nest(user).equals(nest(member.owner()));
    }
    return samePackage(user, member.owner())
        || (member.has(Opcodes.ACC_PROTECTED) && classes.lineage(user).contains(member.owner()));
  }

  private static String nest(ClassNode type) {
    return type.nestHostClass == null ? type.name : type.nestHostClass;
  }

  private static boolean samePackage(ClassNode one, ClassNode other) {
    return packageOf(one.name).equals(packageOf(other.name));
  }

  private static String packageOf(String name) {
    return name.substring(0, name.lastIndexOf('/') + 1);
  }

  /** Abstract methods of its supertypes that a class has nothing for. */
  private List<String> unimplemented(ClassNode type) {
    List<ClassNode> lineage = classes.lineage(type);
    List<String> left = new ArrayList<>();
    for (ClassNode at : lineage) {
      for (MethodNode method : at.methods) {
        if ((method.access & Opcodes.ACC_ABSTRACT) != 0
            && lineage.stream().noneMatch(other -> implemented(other, method))) {
          left.add(at.name + "." + method.name + method.desc);
        }
      }
    }
    return left;
  }

  private static boolean implemented(ClassNode type, MethodNode method) {
    MethodNode same = method(type, method.name, method.desc);
    return same != null
        && (same.access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_STATIC | Opcodes.ACC_PRIVATE)) == 0;
  }

  /** Whether a method overrides, or implements, one of a class that {@code mayBe} names. */
  boolean overrides(ClassNode type, MethodNode method, Predicate<String> mayBe) {
    return classes.lineage(type).stream()
        .filter(at -> at != type && mayBe.test(at.name))
        .anyMatch(at -> overridable(type, at, method(at, method.name, method.desc)));
  }

  private static boolean overridable(ClassNode type, ClassNode owner, MethodNode method) {
    if (method == null || (method.access & (Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC)) != 0) {
      return false;
    }
    return (method.access & (Opcodes.ACC_PUBLIC | Opcodes.ACC_PROTECTED)) != 0
        || samePackage(type, owner);
  }
}
