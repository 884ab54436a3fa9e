package org.hdfsmeld.datanode.device;

import java.util.List;
import java.util.Map;
import org.hdfsmeld.datanode.metrics.MeldDeviceMXBean;

/** What operators see of a device that volumes share. */
public final class MeldDeviceBean implements MeldDeviceMXBean {
  private final SharedDevice device;
  private final String profile;

  public MeldDeviceBean(SharedDevice device, String profile) {
    this.device = device;
    this.profile = profile;
  }

  @Override
  public String getDevice() {
    return device.name();
  }

  @Override
  public String getProfile() {
    return profile;
  }

  @Override
  public List<String> getVolumes() {
    return device.volumes().stream().map(VolumePort::volume).toList();
  }

  @Override
  public String getMode() {
    return device.mode().text();
  }

  @Override
  public double getTimeDilation() {
    return device.timeDilation();
  }

  @Override
  public boolean isHealthy() {
    return device.isHealthy();
  }

  @Override
  public String getLastError() {
    return device.lastError();
  }

  @Override
  public Map<String, Long> getCounters() {
    return device.counters();
  }
}
