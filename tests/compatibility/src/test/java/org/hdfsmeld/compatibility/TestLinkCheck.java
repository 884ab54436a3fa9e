package org.hdfsmeld.compatibility;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/** Each way in which a class can fail to link, shown with the JDK as what it is linked with. */
class TestLinkCheck {
  private static final String NAME = "some/where/Thing";

  @TempDir Path dir;

  private final ClassNode type = new ClassNode();

  TestLinkCheck() {
    type.visit(Opcodes.V17, Opcodes.ACC_PUBLIC, NAME, null, "java/util/AbstractList", null);
    for (String method : List.of("get(I)Ljava/lang/Object;", "size()I")) {
      int descriptor = method.indexOf('(');
      type.visitMethod(
          Opcodes.ACC_PUBLIC,
          method.substring(0, descriptor),
          method.substring(descriptor),
          null,
          null);
    }
  }

  private MethodVisitor code() {
    return type.visitMethod(Opcodes.ACC_PUBLIC, "use", "()V", null, null);
  }

  private List<String> problems() throws IOException {
    ClassWriter writer = new ClassWriter(0);
    type.accept(writer);
    Path file = dir.resolve(NAME + ".class");
    Files.createDirectories(file.getParent());
    Files.write(file, writer.toByteArray());
    try (ClassFiles classes = new ClassFiles(List.of(dir))) {
      return new LinkCheck(classes)
          .problems(classes.find(NAME)).stream().map(LinkCheck.Problem::toString).toList();
    }
  }

  @Test
  void whatIsThereLinks() throws IOException {
    MethodVisitor code = code();
    code.visitFieldInsn(Opcodes.GETSTATIC, "java/lang/System", "out", "Ljava/io/PrintStream;");
    code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, NAME, "subList", "(II)Ljava/util/List;", false);
    code.visitMethodInsn(Opcodes.INVOKEINTERFACE, "java/util/List", "hashCode", "()I", true);
    code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "[I", "clone", "()Ljava/lang/Object;", false);
    code.visitFieldInsn(Opcodes.GETFIELD, NAME, "modCount", "I");
    code.visitMethodInsn(
        Opcodes.INVOKEVIRTUAL, "java/lang/invoke/VarHandle", "getAcquire", "([JI)J", false);
    assertThat(problems()).isEmpty();
  }

  @Test
  void aClassThatIsNotThere() throws IOException {
    code().visitLdcInsn(Type.getObjectType("java/lang/Nowhere"));
    assertThat(problems()).anyMatch(p -> p.endsWith("no class java/lang/Nowhere"));
  }

  @Test
  void aMethodOfAnotherDescriptor() throws IOException {
    code().visitMethodInsn(Opcodes.INVOKEVIRTUAL, "java/lang/String", "length", "()J", false);
    assertThat(problems()).contains(NAME + ".use()V: no method java/lang/String.length()J");
  }

  @Test
  void aFieldThatIsNotThere() throws IOException {
    code().visitFieldInsn(Opcodes.GETSTATIC, "java/lang/System", "log", "I");
    assertThat(problems()).contains(NAME + ".use()V: no field java/lang/System.log:I");
  }

  @Test
  void aMethodThatIsStatic() throws IOException {
    code().visitMethodInsn(Opcodes.INVOKEVIRTUAL, "java/lang/Thread", "onSpinWait", "()V", false);
    assertThat(problems()).contains(NAME + ".use()V: static: java/lang/Thread.onSpinWait()V");
  }

  @Test
  void aMethodOutOfReach() throws IOException {
    code().visitMethodInsn(Opcodes.INVOKEVIRTUAL, "java/lang/Thread", "exit", "()V", false);
    assertThat(problems()).contains(NAME + ".use()V: no access to java/lang/Thread.exit()V");
  }

  @Test
  void aClassThatWasAnInterface() throws IOException {
    code().visitMethodInsn(Opcodes.INVOKEINTERFACE, "java/lang/Thread", "start", "()V", true);
    assertThat(problems()).contains(NAME + ".use()V: no interface now: java/lang/Thread.start()V");
  }

  @Test
  void anAbstractMethodThatHasNothing() throws IOException {
    type.methods.removeIf(method -> method.name.equals("size"));
    assertThat(problems())
        .anyMatch(p -> p.contains("does not implement java/util/AbstractCollection.size()I"));
  }

  @Test
  void anOverrideOfNothing() throws IOException {
    MethodNode size = type.methods.get(1);
    MethodNode alone = new MethodNode(Opcodes.ACC_PUBLIC, "size", "()J", null, null);
    try (ClassFiles jdk = new ClassFiles(List.of())) {
      LinkCheck links = new LinkCheck(jdk);
      assertThat(links.overrides(type, size, name -> name.startsWith("java/"))).isTrue();
      assertThat(links.overrides(type, size, name -> false)).isFalse();
      assertThat(links.overrides(type, alone, name -> name.startsWith("java/"))).isFalse();
    }
  }
}
