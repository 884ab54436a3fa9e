package org.hdfsmeld.sim;

/** Opcodes of the NVM command set that the simulator knows. */
public final class Opcode {
  /** Everything buffered goes to the flash. */
  public static final int FLUSH = 0;

  public static final int WRITE = 1;
  public static final int READ = 2;

  /** Says that a range holds nothing of value any more. */
  public static final int DEALLOCATE = 9;

  private Opcode() {}

  public static String name(int opcode) {
    return switch (opcode) {
      case FLUSH -> "flush";
      case WRITE -> "write";
      case READ -> "read";
      case DEALLOCATE -> "deallocate";
      default -> "opcode " + opcode;
    };
  }
}
