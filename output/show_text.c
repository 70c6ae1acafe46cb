/* show_text.c - a layout in pahole's dress, with reads, writes and the cost of each line beside it. */
#include "output/show.h"
#include "output/words.h"

#include <string.h>

/* Parts with a smaller share of all accesses are folded into one row, unless -v; so are cheap lines of long fields. */
#define SMALL_SHARE 0.001
/* A line with this share of all transfers is shown in red. */
#define COSTLY_SHARE 0.1
#define DECL_WIDTH 48

struct printer {
	const struct lm_show *show;
	const struct lm_print_opts *opts;
	uint32_t line;
	struct lm_arena *arena;
	struct lm_str *out;
};

static void columns(const struct printer *p, const char *place, double reads, double writes)
{
	lm_str_addf(p->out, "%s", place);
	if (p->show->heat)
		lm_str_addf(p->out, "  %11s %11s", reads + writes > 0 ? lm_count(p->arena, reads) : "",
			    reads + writes > 0 ? lm_count(p->arena, writes) : "");
	lm_str_add(p->out, " */\n");
}

static double line_cost(const struct printer *p, uint64_t line)
{
	return line < p->show->nr_lines ? p->show->line_cost[line] : 0;
}

static void print_boundary(const struct printer *p, uint64_t line, uint64_t at)
{
	uint64_t bytes = line * p->line;
	double cost = line_cost(p, line);
	struct lm_str s = { 0 };

	lm_str_addf(&s, "/* --- cacheline %llu boundary (%llu bytes)", (unsigned long long)line,
		    (unsigned long long)bytes);
	if (at > bytes)
		lm_str_addf(&s, " was %llu bytes ago", (unsigned long long)(at - bytes));
	if (p->show->heat)
		lm_str_addf(&s, ": %s transfer%s", lm_count(p->arena, cost), cost >= 0.5 && cost < 1.5 ? "" : "s");
	lm_str_add(&s, " --- */");
	lm_str_add_char(p->out, '\t');
	lm_paint(p->out, p->opts->color && cost > COSTLY_SHARE * p->show->transfers, LM_RED, lm_str_text(&s));
	lm_str_add_char(p->out, '\n');
	lm_str_release(&s);
}

/* As pahole: the last boundary passed; those inside a long field too where they cost something. */
static void print_boundaries(const struct printer *p, uint64_t *next, uint64_t at)
{
	double least = SMALL_SHARE * p->show->transfers;

	for (; *next * p->line <= at; ++*next)
		if ((*next + 1) * p->line > at || (p->show->heat && line_cost(p, *next) >= least))
			print_boundary(p, *next, at);
}

static const char *place(const struct printer *p, const struct lm_show_field *f)
{
	if (f->bits == LM_NOT_BITS)
		return lm_arena_printf(p->arena, "%5llu %5llu", (unsigned long long)f->offset,
				       (unsigned long long)f->size);
	return lm_arena_printf(p->arena, "%5llu:%2u %2llu", (unsigned long long)f->offset, f->bit,
			       (unsigned long long)f->size);
}

/* Says a part's row more than its field's row has said? */
static bool worth_a_row(const struct printer *p, const struct lm_show_field *f, const struct lm_show_part *part)
{
	if (f->nr_parts == 1 && part->offset == f->offset && part->size == f->size)
		return false;
	return p->opts->verbose > 0 || part->reads + part->writes >= SMALL_SHARE * p->show->accesses;
}

static void print_parts(const struct printer *p, const struct lm_show_field *f, uint64_t *next)
{
	double reads = 0, writes = 0;
	uint32_t folded = 0;

	for (uint32_t i = 0; i < f->nr_parts; i++) {
		const struct lm_show_part *part = &f->parts[i];

		if (!worth_a_row(p, f, part)) {
			folded++;
			reads += part->reads;
			writes += part->writes;
			continue;
		}
		print_boundaries(p, next, part->offset);
		lm_str_addf(p->out, "\t/*   %-*s", DECL_WIDTH - 1, part->name);
		columns(p, lm_arena_printf(p->arena, "%5llu %5llu", (unsigned long long)part->offset,
					   (unsigned long long)part->size),
			part->reads, part->writes);
	}
	if (!folded || folded == f->nr_parts)
		return;
	lm_str_addf(p->out, "\t/*   %-*s", DECL_WIDTH - 1,
		    lm_arena_printf(p->arena, "%u part%s touched less", folded, folded == 1 ? "" : "s"));
	columns(p, "           ", reads, writes);
}

static void print_field(const struct printer *p, const struct lm_show_field *f, uint64_t *next)
{
	if (f->hole)
		lm_str_addf(p->out, "\n\t/* %llu byte%s hole */\n\n", (unsigned long long)f->hole,
			    f->hole == 1 ? "" : "s");
	print_boundaries(p, next, f->offset);
	lm_str_addf(p->out, "\t%-*s /* ", DECL_WIDTH, f->decl);
	columns(p, place(p, f), f->reads, f->writes);
	print_parts(p, f, next);
}

static void print_sums(const struct printer *p)
{
	const struct lm_show *s = p->show;

	lm_str_addf(p->out, "\n\t/* size: %llu, cachelines: %llu, members: %u */\n", (unsigned long long)s->size,
		    (unsigned long long)s->nr_lines, s->nr_fields);
	lm_str_addf(p->out, "\t/* sum members: %llu", (unsigned long long)s->sum_members);
	if (s->sum_bits)
		lm_str_addf(p->out, ", sum bitfield members: %llu bits", (unsigned long long)s->sum_bits);
	if (s->holes)
		lm_str_addf(p->out, ", holes: %u, sum holes: %llu", s->holes, (unsigned long long)s->hole_bytes);
	lm_str_add(p->out, " */\n");
	if (s->tail)
		lm_str_addf(p->out, "\t/* padding: %llu */\n", (unsigned long long)s->tail);
	if (s->size % p->line)
		lm_str_addf(p->out, "\t/* last cacheline: %llu bytes */\n", (unsigned long long)(s->size % p->line));
	if (s->base_align < p->line)
		lm_str_addf(p->out, "\t/* lines as if the object starts on one; it may start at any multiple of %llu byte%s */\n",
			    (unsigned long long)s->base_align, s->base_align == 1 ? "" : "s");
	if (s->heat) {
		lm_str_addf(p->out, "\t/* accesses: %s", lm_count(p->arena, s->accesses));
		lm_str_addf(p->out, ", expected transfers: %s with %u-byte lines", lm_count(p->arena, s->transfers),
			    p->line);
		lm_str_addf(p->out, ", %s with %u */\n", lm_count(p->arena, s->transfers_double), 2 * p->line);
	}
}

void lm_show_text(const struct lm_story *story, uint32_t view, const struct lm_print_opts *opts, struct lm_str *out)
{
	const struct lm_record *rec = story->subject->views[view].rec;
	struct lm_arena arena = { 0 };
	struct lm_show show;
	struct printer p = { .show = &show, .opts = opts, .line = story->opts->line, .arena = &arena, .out = out };
	uint64_t next = 1, end = 0;

	lm_show_make(story, view, &arena, &show);
	if (story->subject->nr_views > 1)
		lm_str_addf(out, "/* configuration %s */\n", show.config);
	lm_paint(out, opts->color, LM_BOLD, story->record);
	lm_str_add(out, " {");
	if (show.heat)
		lm_str_addf(out, "%*s/* offset  size        reads      writes */", DECL_WIDTH + 7 - (int)strlen(story->record),
			    "");
	lm_str_add_char(out, '\n');
	if (show.heat && show.nr_lines)
		print_boundary(&p, 0, 0);
	for (uint32_t f = 0; f < show.nr_fields; f++) {
		print_field(&p, &show.fields[f], &next);
		end = show.fields[f].offset + show.fields[f].size;
	}
	if (end)
		print_boundaries(&p, &next, end - 1);
	print_sums(&p);
	lm_str_add(out, rec->packed ? "} __attribute__((__packed__))" : "}");
	if (rec->attr_align)
		lm_str_addf(out, " __attribute__((__aligned__(%u)))", rec->attr_align);
	lm_str_add(out, ";\n");
	lm_arena_release(&arena);
}
