package org.hdfsmeld.datanode.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.datanode.FileIoProvider;
import org.junit.jupiter.api.Test;

class TestFileIoProviderSwap {
  private final FileIoProvider provider = new FileIoProvider(null, null);

  @Test
  void theFieldIsStillThere() throws Exception {
    assertThat(DataNode.class.getDeclaredField("fileIoProvider").getType())
        .isEqualTo(FileIoProvider.class);
  }

  @Test
  void aDataNodeThatUsesTheFieldHasTheNewProvider() {
    DataNode datanode = mock(DataNode.class);
    when(datanode.getFileIoProvider()).thenCallRealMethod();
    assertThat(FileIoProviderSwap.install(datanode, provider)).isNull();
    assertThat(datanode.getFileIoProvider()).isSameAs(provider);
  }

  @Test
  void aMockIsReportedNotThrownAt() {
    assertThat(FileIoProviderSwap.install(mock(DataNode.class), provider)).contains("mock");
  }
}
