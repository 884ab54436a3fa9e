package org.hdfsmeld.datanode.volume;

/** A dataset whose volumes are on simulated devices. */
public interface SimulatedDataset {
  /** The volumes' simulated side; null while the dataset is being built. */
  MeldVolumes simulated();
}
