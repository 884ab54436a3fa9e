//! The keys of MQSim's files: what each is here, or why it is nothing.

/// A key, and its counterpart: a key of a profile or of a job, or a flag.
pub(super) const CARRIED: [(&str, &str); 61] = [
    ("PCIe_Lane_Bandwidth", "host.link_rate, times the lanes"),
    ("PCIe_Lane_Count", "host.link_rate, times the bandwidth"),
    ("Enabled_Preconditioning", "--precondition"),
    ("IO_Queue_Depth", "iodepth of flows with a bandwidth"),
    (
        "Queue_Fetch_Size",
        "host.commands_in_flight, where flows are deeper",
    ),
    ("Data_Cache_Capacity", "controller.write_buffer"),
    (
        "Plane_Allocation_Scheme",
        "ftl.page_allocation, with ftl.allocation = \"static\"",
    ),
    (
        "Overprovisioning_Ratio",
        "ftl.over_provisioning_percent, rounded",
    ),
    (
        "GC_Block_Selection_Policy",
        "gc.victim; RGA is d-choices, RANDOM_P and RANDOM_PP are random",
    ),
    (
        "Use_Copyback_for_GC",
        "commands.copyback, only where pages are programmed together",
    ),
    ("Dynamic_Wearleveling_Enabled", "gc.wear_levelling"),
    ("Static_Wearleveling_Enabled", "gc.wear_levelling"),
    ("Static_Wearleveling_Threshold", "gc.wear_threshold"),
    ("Flash_Channel_Count", "geometry.channels"),
    ("Flash_Channel_Width", "bus.width_bits"),
    ("Channel_Transfer_Rate", "bus.rate"),
    (
        "Chip_No_Per_Channel",
        "geometry.dies_per_channel, times the dies",
    ),
    ("Flash_Technology", "the number of times in timing.read"),
    (
        "CMD_Suspension_Support",
        "commands.suspend_program and suspend_erase, where a chip has one die",
    ),
    ("Page_Read_Latency_LSB", "timing.read"),
    ("Page_Read_Latency_CSB", "timing.read, of TLC"),
    ("Page_Read_Latency_MSB", "timing.read, not of SLC"),
    ("Page_Program_Latency_LSB", "timing.program_pages"),
    ("Page_Program_Latency_CSB", "timing.program_pages, of TLC"),
    (
        "Page_Program_Latency_MSB",
        "timing.program_pages, not of SLC",
    ),
    ("Block_Erase_Latency", "timing.erase"),
    (
        "Suspend_Erase_Time",
        "commands.suspend_time, where erases are suspended",
    ),
    (
        "Suspend_Program_Time",
        "commands.suspend_time, where only programs are suspended",
    ),
    (
        "Die_No_Per_Chip",
        "geometry.dies_per_package; several are commands.die_interleave = \"off\"",
    ),
    (
        "Plane_No_Per_Die",
        "geometry.planes_per_die, with commands.multi_plane",
    ),
    ("Block_No_Per_Plane", "geometry.blocks_per_plane"),
    (
        "Page_No_Per_Block",
        "geometry.wordlines_per_block, times the pages of a wordline",
    ),
    ("Page_Capacity", "geometry.page_size"),
    ("Page_Metadat_Capacity", "bus.bytes_per_4kib"),
    ("Priority_Class", "queue_priority"),
    (
        "Device_Level_Data_Caching_Mode",
        "controller.write_cache, of all flows alike",
    ),
    ("Initial_Occupancy_Percentage", "fill of --precondition"),
    (
        "Working_Set_Percentage",
        "size, of an equal share of the device for each flow",
    ),
    ("Synthetic_Generator_Type", "iodepth or rate_iops"),
    ("Read_Percentage", "rw and rwmixread"),
    ("Address_Distribution", "rw and random_distribution"),
    ("Percentage_of_Hot_Region", "random_distribution=zoned"),
    ("Generated_Aligned_Addresses", "blockalign"),
    ("Address_Alignment_Unit", "blockalign"),
    (
        "Request_Size_Distribution",
        "bs, or bssplit with ten sizes of a tenth each",
    ),
    ("Average_Request_Size", "bs"),
    (
        "Variance_Request_Size",
        "bssplit: it is used as the standard deviation",
    ),
    ("Average_No_of_Reqs_in_Queue", "iodepth"),
    ("Bandwidth", "rate_iops with rate_process=poisson"),
    ("Stop_Time", "runtime"),
    ("Total_Requests_To_Generate", "number_ios"),
    ("File_Path", "--trace"),
    ("Relay_Count", "--repeat"),
    ("Time_Unit", "--time-unit"),
    ("Memory_Type", "kind = \"nand\", always"),
    ("Address_Mapping", "a page-level map, always"),
    ("Flash_Comm_Protocol", "bus.rate says what it can"),
    ("HostInterface_Type", "NVMe, always"),
    (
        "Ideal_Mapping_Table",
        "ftl.map: table, or else cached, entry by entry",
    ),
    (
        "CMT_Capacity",
        "ftl.map_cache, which holds as many entries; MQSim's have a page's sectors, too",
    ),
    ("Seed", "randseed of a flow; a device draws nothing"),
];

/// A key that has no counterpart, and why.
pub(super) const ABSENT: [(&str, &str); 24] = [
    ("SATA_Processing_Delay", "there is no SATA"),
    (
        "Enable_ResponseTime_Logging",
        "--time-series writes response times over time",
    ),
    (
        "ResponseTime_Logging_Period_Length",
        "--interval is that of --time-series",
    ),
    (
        "Caching_Mechanism",
        "the write buffer is one, and caches no reads",
    ),
    ("Data_Cache_Sharing_Mode", "flows share the write buffer"),
    (
        "Data_Cache_DRAM_Data_Rate",
        "controller.dram_rate is of reads and writes, and MQSim passes only what it caches through DRAM",
    ),
    (
        "Data_Cache_DRAM_Data_Busrt_Size",
        "controller.dram_rate is of reads and writes, and MQSim passes only what it caches through DRAM",
    ),
    ("Data_Cache_DRAM_Row_Size", "DRAM is one rate"),
    ("Data_Cache_DRAM_tRCD", "DRAM is one rate"),
    ("Data_Cache_DRAM_tCL", "DRAM is one rate"),
    ("Data_Cache_DRAM_tRP", "DRAM is one rate"),
    (
        "Transaction_Scheduling_Policy",
        "reads pass waiting programs up to controller.reads_before_program; priorities count where commands are fetched",
    ),
    (
        "GC_Exec_Threshold",
        "collection begins when no free block is left to write to, paced by gc.pacing",
    ),
    (
        "Preemptible_GC_Enabled",
        "gc.pacing and gc.reads_yield say how collection shares the flash",
    ),
    (
        "GC_Hard_Threshold",
        "gc.pacing says how collection shares the flash",
    ),
    (
        "Preferred_suspend_erase_time_for_read",
        "a read suspends whenever commands.suspend_progress allows",
    ),
    (
        "Prefered_suspend_erase_time_for_read",
        "a read suspends whenever commands.suspend_progress allows",
    ),
    (
        "Preferred_suspend_erase_time_for_write",
        "writes suspend nothing",
    ),
    (
        "Preferred_suspend_write_time_for_read",
        "a read suspends whenever commands.suspend_progress allows",
    ),
    ("Block_PE_Cycles_Limit", "blocks do not wear out"),
    (
        "Channel_IDs",
        "a flow has no channels of its own; sets.layout makes NVM sets",
    ),
    (
        "Chip_IDs",
        "a flow has no chips of its own; sets.layout makes NVM sets",
    ),
    ("Die_IDs", "a flow has no dies of its own"),
    ("Plane_IDs", "a flow has no planes of its own"),
];

/// More that has no counterpart, where it is not what is done anyway.
pub(super) const ABSENT_UNLESS: [(&str, &str, &str); 6] = [
    (
        "HostInterface_Type",
        "NVME",
        "there is no SATA: the device is NVMe",
    ),
    ("Address_Mapping", "PAGE_LEVEL", "the map is by page"),
    (
        "CMT_Sharing_Mode",
        "SHARED",
        "flows share the cached part of the map",
    ),
    (
        "Percentage_To_Be_Executed",
        "100",
        "a trace is replayed whole; --runtime ends it early",
    ),
    (
        "Use_Copyback_for_GC",
        "false",
        "pages are programmed one by one, and copyback moves wordlines",
    ),
    ("Intensity", "", "MQSim does not read it either"),
];
