struct fs_stats {
	long opened;
	long read;
	long limit;
	long written;
	long closed;
	char rest[24];
};
struct fs_stats stats = { .limit = 9 };
int main(void)
{
	return stats.limit != 9;
}
