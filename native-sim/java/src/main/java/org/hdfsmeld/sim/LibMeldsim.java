package org.hdfsmeld.sim;

import com.sun.jna.Pointer;
import java.nio.ByteBuffer;

/**
 * The C ABI, bound by JNA's direct mapping: a call costs a few hundred nanoseconds, as long as its
 * arguments are primitives. Bound by {@link NativeLoader} only; calling anything before that is an
 * {@link UnsatisfiedLinkError}.
 *
 * <p>{@code ring} of {@link #meldsim_ring_attach} is an address. A struct is an array of bytes that
 * begins with its size.
 */
final class LibMeldsim {
  static final int ABI_VERSION = 3;
  static final int FLAG_DETACHED = 1;
  static final int FLAG_NO_WAIT = 2;

  private LibMeldsim() {}

  static native int meldsim_abi_version();

  static native int meldsim_last_error(byte[] buf, long len);

  static native int meldsim_open(int abiVersion, byte[] profile, long[] handle);

  static native int meldsim_close(long handle);

  static native int meldsim_profile(long handle, byte[] buf, long len);

  static native int meldsim_set_mode(long handle, int mode, double timeDilation);

  static native int meldsim_namespace_create(long handle, long sizeBytes, int[] nsid);

  static native int meldsim_namespace_create_in(long handle, int set, long sizeBytes, int[] nsid);

  static native int meldsim_sets(long handle);

  static native int meldsim_namespace_info(long handle, int nsid, byte[] out);

  static native long meldsim_submit(
      long handle, int opcode, int nsid, long slba, int nlb, int directive, int flags);

  static native int meldsim_ring_attach(long handle, long ring, int entries, int slots);

  static native long meldsim_ring_run(long handle, long nowNs, long spinNs, long maxNs);

  static native long meldsim_wait(long handle, long ticket, long timeoutNs);

  static native int meldsim_preload(long handle, int nsid, long slba, long nlb, int directive);

  static native int meldsim_layout(long handle, int nsid, long slba, long nlb, byte[] out);

  static native int meldsim_precondition_by(long handle, byte[] past);

  static native long meldsim_snapshot(long handle, ByteBuffer out, long n);

  static native int meldsim_restore(int abiVersion, ByteBuffer snapshot, long n, long[] handle);

  static native int meldsim_namespaces(long handle);

  static native int meldsim_stats(long handle, long[] out, int n);

  static native Pointer meldsim_stats_name(int index);

  static native int meldsim_namespace_stats(long handle, int nsid, long[] out, int n);

  static native Pointer meldsim_namespace_stats_name(int index);

  static native int meldsim_fdp_info(long handle, int set, byte[] out);

  static native int meldsim_handles(long handle, int nsid, long[] out, int n);

  static native long meldsim_latency(long handle, int opcode, double quantile);

  static native int meldsim_timeline_start(long handle, long bytes);

  static native long meldsim_timeline_stop(long handle, byte[] path, long[] lost);
}
