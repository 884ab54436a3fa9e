package org.hdfsmeld.sim;

import static org.hdfsmeld.sim.NativeSimDevice.cString;

import com.sun.jna.Callback;
import com.sun.jna.CallbackReference;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;
import org.hdfsmeld.sim.VictimPolicy.Superblock;

/** The table of functions by which the library calls victim policies; meldsim.h describes it. */
final class VictimPolicies {
  /** Of meldsim_candidate: its size and number, when it was closed, and three of 32 bits. */
  private static final int CANDIDATE_BYTES = 32;

  /** Of meldsim_victims: its size and flags, the context, and six functions. */
  private static final int TABLE_BYTES = 8 + 7 * Native.POINTER_SIZE;

  private static final int FAILED = -1;

  private static final AtomicLong NUMBERS = new AtomicLong();
  private static final Map<Long, VictimPolicy.Factory> FACTORIES = new ConcurrentHashMap<>();
  private static final Map<Long, VictimPolicy> POLICIES = new ConcurrentHashMap<>();

  /** What a policy threw in a run of this thread's. */
  static final ThreadLocal<Throwable> THROWN = new ThreadLocal<>();

  interface Make extends Callback {
    Pointer call(Pointer context, String options, int superblocks, int pagesPerSuperblock);
  }

  interface Drop extends Callback {
    void call(Pointer policy);
  }

  interface Rank extends Callback {
    int call(Pointer policy, long now, Pointer candidates, int n, int most, Pointer ranked);
  }

  interface Closed extends Callback {
    int call(Pointer policy, Pointer superblock);
  }

  interface Erased extends Callback {
    int call(Pointer policy, int number);
  }

  // Kept: what the library holds is no reference that the collector knows.
  private static final Make MAKE = VictimPolicies::make;
  private static final Drop DROP = policy -> POLICIES.remove(Pointer.nativeValue(policy));
  private static final Rank RANK = VictimPolicies::rank;
  private static final Closed CLOSED =
      (policy, superblock) ->
          guarded(
              () -> {
                of(policy).closed(superblock(superblock, 0));
                return 0;
              });
  private static final Erased ERASED =
      (policy, number) ->
          guarded(
              () -> {
                of(policy).erased(number);
                return 0;
              });

  private VictimPolicies() {}

  /** A table whose policies the factory makes. It is kept as long as the process. */
  static Pointer table(VictimPolicy.Factory factory) {
    long context = NUMBERS.incrementAndGet();
    FACTORIES.put(context, factory);
    Memory table = new Memory(TABLE_BYTES);
    table.clear();
    table.setInt(0, TABLE_BYTES);
    Callback[] functions = {MAKE, DROP, RANK, CLOSED, null, ERASED};
    table.setPointer(8, new Pointer(context));
    for (int at = 0; at < functions.length; at++) {
      if (functions[at] != null) {
        Pointer function = CallbackReference.getFunctionPointer(functions[at]);
        table.setPointer(8L + (1L + at) * Native.POINTER_SIZE, function);
      }
    }
    return table;
  }

  private static VictimPolicy of(Pointer policy) {
    return POLICIES.get(Pointer.nativeValue(policy));
  }

  private static Pointer make(Pointer context, String options, int superblocks, int pages) {
    long number = NUMBERS.incrementAndGet();
    int made =
        guarded(
            () -> {
              VictimPolicy.Factory factory = FACTORIES.get(Pointer.nativeValue(context));
              POLICIES.put(number, factory.make(superblocks, pages, options));
              return 0;
            });
    return made == FAILED ? null : new Pointer(number);
  }

  private static int rank(
      Pointer policy, long now, Pointer candidates, int n, int most, Pointer ranked) {
    return guarded(
        () -> {
          Superblock[] given = new Superblock[n];
          for (int at = 0; at < n; at++) {
            given[at] = superblock(candidates, at);
          }
          int[] answer = of(policy).rank(given, most, now);
          ranked.write(0, answer, 0, Math.min(answer.length, most));
          return answer.length;
        });
  }

  private static Superblock superblock(Pointer list, int at) {
    long from = (long) at * CANDIDATE_BYTES;
    return new Superblock(
        list.getInt(from + 4),
        list.getLong(from + 8),
        list.getInt(from + 16),
        list.getInt(from + 20),
        list.getInt(from + 24));
  }

  /** What the call answers; what it throws is kept for the run, and told as a failure. */
  private static int guarded(IntSupplier call) {
    try {
      return call.getAsInt();
    } catch (Throwable thrown) {
      THROWN.set(thrown);
      SimRun.meldsim_policy_error(cString("threw " + thrown));
      return FAILED;
    }
  }
}
