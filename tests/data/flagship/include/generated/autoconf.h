/* The base configuration.  Others are made from it with --config. */
#define CONFIG_64BIT 1
#define CONFIG_CGROUPS 1
#define CONFIG_CGROUP_WRITEBACK 1
#define CONFIG_LRU_GEN 1
#define CONFIG_LRU_GEN_WALKS_MMU 1
#define CONFIG_MEMCG 1
#define CONFIG_SMP 1
