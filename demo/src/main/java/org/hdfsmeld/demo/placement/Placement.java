package org.hdfsmeld.demo.placement;

import java.util.List;

/**
 * Where the blocks of a DataNode with two devices of the same price go.
 *
 * <p>Equally expensive devices are our assumption of what is fair: a byte on Optane costs {@value
 * #PRICE_RATIO} times a byte on NAND, so an Optane device holds that many times less.
 */
enum Placement {
  ALL_NAND("all-NAND", Devices.NAND, Devices.NAND, null),
  ALL_OPTANE("all-Optane", Devices.OPTANE, Devices.OPTANE, null),
  OPTANE_FIRST(
      "Optane first", Devices.OPTANE, Devices.NAND, FirstVolumeChoosingPolicy.class.getName()),
  CONTRACT(
      "contract",
      Devices.OPTANE,
      Devices.NAND,
      "org.hdfsmeld.datanode.placement.ContractVolumeChoosingPolicy");

  /** Price of a byte of Optane in bytes of NAND: list prices of 900P and 970 Pro, an assumption. */
  static final double PRICE_RATIO = 4;

  private final String title;
  private final String first;
  private final String second;
  private final String policy;

  /** The profiles: a class of its own, for an enum's constants come before its statics. */
  private static final class Devices {
    static final String OPTANE = "optane-900p";
    static final String NAND = "melded-tlc-8x8";
  }

  Placement(String title, String first, String second, String policy) {
    this.title = title;
    this.first = first;
    this.second = second;
    this.policy = policy;
  }

  String title() {
    return title;
  }

  /** The device of each volume. */
  List<String> profiles() {
    return List.of(first, second);
  }

  /** The DataNode's volume choosing policy, or null for Hadoop's own. */
  String policy() {
    return policy;
  }

  /** What the devices hold, in NAND devices. */
  double capacity() {
    return profiles().stream()
        .mapToDouble(profile -> profile.equals(Devices.OPTANE) ? 1 / PRICE_RATIO : 1)
        .sum();
  }
}
