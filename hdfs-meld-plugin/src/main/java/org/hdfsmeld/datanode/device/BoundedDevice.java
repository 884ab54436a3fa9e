package org.hdfsmeld.datanode.device;

import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.hdfsmeld.sim.CommandBatch;
import org.hdfsmeld.sim.NamespaceInfo;
import org.hdfsmeld.sim.SimDevice;
import org.hdfsmeld.sim.SimException;

/**
 * A device whose calls are made by other threads, so that one that never returns ends after a
 * bounded wait, with an {@link IllegalStateException}. Each comes after the commands that were
 * deferred before.
 */
final class BoundedDevice implements SimDevice {
  private final SimDevice device;
  private final BoundedCalls calls;
  private final DeferredCommands deferred;

  /** The text of a failure belongs to the thread that made the call. */
  private final ThreadLocal<String> lastError = ThreadLocal.withInitial(() -> "");

  private record Answer(long status, String error) {}

  /** {@code device}, called through {@code calls}. */
  BoundedDevice(SimDevice device, BoundedCalls calls, DeferredCommands deferred) {
    this.device = device;
    this.calls = calls;
    this.deferred = deferred;
  }

  private <T> T ask(BoundedCalls.Call<T, SimException> call) throws SimException {
    deferred.drain();
    return calls.make(call);
  }

  private long number(LongSupplier call) {
    deferred.drain();
    Answer answer =
        calls.<Answer, RuntimeException>make(
            () -> {
              long status = call.getAsLong();
              return new Answer(status, status < 0 ? device.lastError() : "");
            });
    if (answer.status() < 0) {
      lastError.set(answer.error());
    }
    return answer.status();
  }

  private int status(IntSupplier call) {
    return (int) number(call::getAsInt);
  }

  @Override
  public NamespaceInfo createNamespace(long sizeBytes) throws SimException {
    return ask(() -> device.createNamespace(sizeBytes));
  }

  @Override
  public NamespaceInfo createNamespaceIn(int set, long sizeBytes) throws SimException {
    return ask(() -> device.createNamespaceIn(set, sizeBytes));
  }

  @Override
  public int sets() throws SimException {
    return ask(device::sets);
  }

  @Override
  public List<NamespaceInfo> namespaces() throws SimException {
    return ask(device::namespaces);
  }

  @Override
  public long submit(int opcode, int nsid, long slba, int nlb, int directive, boolean detached) {
    return number(() -> device.submit(opcode, nsid, slba, nlb, directive, detached));
  }

  @Override
  public long submitBatch(CommandBatch batch, boolean detached) {
    return number(() -> device.submitBatch(batch, detached));
  }

  @Override
  public long await(long ticket, long timeoutNs) {
    return number(() -> device.await(ticket, timeoutNs));
  }

  @Override
  public int forget(long ticket) {
    return status(() -> device.forget(ticket));
  }

  @Override
  public int preload(int nsid, long slba, long nlb, int directive) {
    return status(() -> device.preload(nsid, slba, nlb, directive));
  }

  @Override
  public int layout(int nsid, long slba, long nlb, long[] out) {
    return status(() -> device.layout(nsid, slba, nlb, out));
  }

  @Override
  public int bindStream(int nsid, int stream, int directive) {
    return status(() -> device.bindStream(nsid, stream, directive));
  }

  @Override
  public int releaseStream(int nsid, int stream) {
    return status(() -> device.releaseStream(nsid, stream));
  }

  @Override
  public void precondition(int fillPercent, int randomPercent) throws SimException {
    BoundedCalls.Call<Void, SimException> call =
        () -> {
          device.precondition(fillPercent, randomPercent);
          return null;
        };
    ask(call);
  }

  @Override
  public String profile() throws SimException {
    return ask(device::profile);
  }

  @Override
  public byte[] snapshot() throws SimException {
    return ask(device::snapshot);
  }

  @Override
  public int setMode(boolean realTime, double timeDilation) {
    return status(() -> device.setMode(realTime, timeDilation));
  }

  @Override
  public List<String> statNames() {
    return calls.<List<String>, RuntimeException>make(device::statNames);
  }

  @Override
  public int stats(long[] out) {
    return status(() -> device.stats(out));
  }

  @Override
  public List<String> namespaceStatNames() {
    return calls.<List<String>, RuntimeException>make(device::namespaceStatNames);
  }

  @Override
  public int namespaceStats(int nsid, long[] out) {
    return status(() -> device.namespaceStats(nsid, out));
  }

  @Override
  public long latencyPs(int opcode, double quantile) {
    return number(() -> device.latencyPs(opcode, quantile));
  }

  @Override
  public long[] channelsBusyPs() throws SimException {
    return ask(device::channelsBusyPs);
  }

  @Override
  public long[] diesBusyPs() throws SimException {
    return ask(device::diesBusyPs);
  }

  @Override
  public String lastError() {
    return lastError.get();
  }

  @Override
  public void close() {
    deferred.close();
    // A device that hangs has a thread inside, which keeps what close would free.
    if (!calls.isHanging()) {
      number(
          () -> {
            device.close();
            return 0;
          });
    }
  }
}
