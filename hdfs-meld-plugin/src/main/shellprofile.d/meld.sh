#!/usr/bin/env bash
# Makes "hdfs meld" a command. Copy to $HADOOP_HOME/libexec/shellprofile.d/ or $HADOOP_CONF_DIR/shellprofile.d/; the
# plugin's jar must be on Hadoop's class path, as it is in share/hadoop/hdfs/lib/.

if ! declare -f hdfs_subcommand_meld >/dev/null 2>/dev/null; then
  if [[ "${HADOOP_SHELL_EXECNAME}" = hdfs ]]; then
    hadoop_add_subcommand "meld" admin "read patterns and their layout on simulated devices"
  fi

  # Called by bin/hdfs, which runs the class.
  function hdfs_subcommand_meld
  {
    # shellcheck disable=SC2034
    HADOOP_CLASSNAME=org.hdfsmeld.tools.MeldAdmin
  }
fi
