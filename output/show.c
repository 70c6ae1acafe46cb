/* show.c - one view's layout with its heat as rows. */
#include "output/show.h"
#include "output/words.h"

#include <stdlib.h>
#include <string.h>

/* ---- declarations ---- */

/* Where the name goes: behind "(*" of a pointer to a function or array, else before "[", else at the end. */
static size_t name_place(const char *type)
{
	const char *p = strstr(type, "(*");

	if (p) {
		for (p++; *p == '*' || *p == ' ';)
			p++;
		for (const char *const *q = (const char *const[]){ "const", "volatile", "restrict", NULL }; *q; q++)
			if (!strncmp(p, *q, strlen(*q)))
				p += strlen(*q);
		return (size_t)(p - type);
	}
	p = strchr(type, '[');
	if (!p)
		return strlen(type);
	while (p > type && p[-1] == ' ')
		p--;
	return (size_t)(p - type);
}

/* "union { swap; memsw; }" : the first parts of its leaves' paths, each once. */
static const char *anonymous_type(const struct lm_record *rec, const struct lm_field *f, struct lm_arena *arena)
{
	const char *word = strncmp(f->type, "union", 5) ? "struct" : "union", *seen = NULL, *text;
	size_t seen_len = 0;
	struct lm_str s = { 0 };

	lm_str_addf(&s, "%s {", word);
	for (uint32_t i = 0; i < f->nr_leaves; i++) {
		const char *path = rec->leaves[f->first_leaf + i].path;
		size_t len = strcspn(path, ".[");

		if (seen && len == seen_len && !strncmp(seen, path, len))
			continue;
		if (s.len > 36) {
			lm_str_add(&s, " ...");
			break;
		}
		lm_str_addf(&s, " %.*s;", (int)len, path);
		seen = path;
		seen_len = len;
	}
	lm_str_add(&s, " }");
	text = lm_safe(arena, lm_str_text(&s));
	lm_str_release(&s);
	return text;
}

static const char *declaration(const struct lm_record *rec, const struct lm_field *f, struct lm_arena *arena)
{
	const char *type = lm_safe(arena, f->type), *name = lm_safe(arena, f->name), *text;
	size_t at = name_place(type);
	struct lm_str s = { 0 };

	if (f->anonymous) {
		lm_str_add(&s, anonymous_type(rec, f, arena));
	} else {
		lm_str_add_bytes(&s, type, at);
		if (*name && s.len && s.text[s.len - 1] != '*')
			lm_str_add_char(&s, ' ');
		lm_str_add(&s, name);
		if (f->bits != LM_NOT_BITS)
			lm_str_addf(&s, ":%u", f->bits);
		lm_str_add(&s, type + at + strspn(type + at, " "));
	}
	if (f->attr_align)
		lm_str_addf(&s, " __attribute__((__aligned__(%u)))", f->attr_align);
	lm_str_add_char(&s, ';');
	text = lm_arena_strdup(arena, lm_str_text(&s));
	lm_str_release(&s);
	return text;
}

/* ---- heat ---- */

struct heat {
	const struct lm_record *rec;
	const struct lm_touch *touches;
	size_t nr;
};

/* The element of its leaf that a touch begins in; 0 where there are none. */
static uint64_t element(const struct lm_leaf *leaf, const struct lm_touch *t)
{
	if (!leaf->elem_size || leaf->elem_size >= leaf->size || t->offset < leaf->offset)
		return 0;
	return (t->offset - leaf->offset) / leaf->elem_size;
}

static struct lm_show_part part_of(const struct lm_record *rec, const struct lm_touch *t, struct lm_arena *arena)
{
	uint64_t base = rec->fields[t->field].bit_offset / 8;
	const struct lm_leaf *leaf;
	struct lm_show_part part = { .reads = t->reads, .writes = t->writes };

	if (t->leaf == LM_NONE) {
		part.name = "(padding)";
		part.offset = base + t->offset;
		part.size = t->size;
		return part;
	}
	leaf = &rec->leaves[t->leaf];
	part.name = lm_safe(arena, leaf->path);
	part.offset = base + leaf->offset;
	part.size = leaf->size;
	if (leaf->elem_size && leaf->elem_size < leaf->size) {
		part.name = lm_arena_printf(arena, "%s[%llu]", part.name, (unsigned long long)element(leaf, t));
		part.offset += element(leaf, t) * leaf->elem_size;
		part.size = leaf->elem_size;
	}
	return part;
}

static int compare_part(const void *pa, const void *pb)
{
	const struct lm_show_part *a = pa, *b = pb;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Touches of field f, added up by leaf and element. */
static void add_parts(const struct heat *heat, uint32_t f, struct lm_arena *arena, struct lm_show_field *out)
{
	size_t nr = 0;

	for (size_t i = 0; i < heat->nr; i++)
		nr += heat->touches[i].field == f;
	out->parts = LM_ARENA_ARRAY(arena, struct lm_show_part, nr + 1);
	nr = 0;
	for (size_t i = 0; i < heat->nr; i++)
		if (heat->touches[i].field == f)
			out->parts[nr++] = part_of(heat->rec, &heat->touches[i], arena);
	qsort(out->parts, nr, sizeof(*out->parts), compare_part);
	for (size_t i = 0; i < nr; i++) {
		struct lm_show_part *last = out->nr_parts ? &out->parts[out->nr_parts - 1] : NULL;

		out->reads += out->parts[i].reads;
		out->writes += out->parts[i].writes;
		if (last && !compare_part(last, &out->parts[i])) {
			last->reads += out->parts[i].reads;
			last->writes += out->parts[i].writes;
		} else {
			out->parts[out->nr_parts++] = out->parts[i];
		}
	}
}

static void add_cost(const struct lm_story *story, uint32_t v, const struct lm_layout *layout, struct lm_show *out)
{
	const struct lm_view *view = &story->subject->views[v];
	struct lm_cost_opts opts = { .line = story->opts->line, .base_align = story->opts->base_align };
	struct lm_cost *cost = lm_cost_new(view, story->usage, v, &opts);

	out->transfers = lm_cost_layout(cost, layout);
	lm_cost_lines(cost, layout, out->line_cost, out->nr_lines);
	lm_cost_free(cost);
	opts.line *= 2;
	cost = lm_cost_new(view, story->usage, v, &opts);
	out->transfers_double = lm_cost_layout(cost, layout);
	lm_cost_free(cost);
}

/* ---- geometry ---- */

static void add_field(const struct lm_record *rec, uint32_t f, uint64_t *end_bits, struct lm_arena *arena,
		      struct lm_show *out)
{
	const struct lm_field *field = &rec->fields[f];
	struct lm_show_field *row = &out->fields[f];
	uint64_t bits = field->bits == LM_NOT_BITS ? field->size * 8 : field->bits;
	uint64_t full = (*end_bits + 7) / 8;

	row->decl = declaration(rec, field, arena);
	row->name = lm_safe(arena, field->key);
	row->offset = field->bit_offset / 8;
	row->bit = (uint32_t)(field->bit_offset % 8);
	row->bits = field->bits;
	row->size = field->size;
	if (row->offset > full) {
		row->hole = row->offset - full;
		out->holes++;
		out->hole_bytes += row->hole;
	}
	if (field->bits == LM_NOT_BITS)
		out->sum_members += field->size;
	else
		out->sum_bits += field->bits;
	if (field->bit_offset + bits > *end_bits)
		*end_bits = field->bit_offset + bits;
}

void lm_show_make(const struct lm_story *story, uint32_t v, struct lm_arena *arena, struct lm_show *out)
{
	const struct lm_view *view = &story->subject->views[v];
	const struct lm_record *rec = view->rec;
	struct lm_layout layout = { .size = rec->size, .align = rec->align };
	uint64_t end_bits = 0;

	memset(out, 0, sizeof(*out));
	out->config = lm_safe(arena, view->config);
	out->nr_fields = rec->nr_fields;
	out->fields = LM_ARENA_ARRAY(arena, struct lm_show_field, rec->nr_fields + 1);
	out->size = rec->size;
	out->align = rec->align;
	out->base_align = rec->align > story->opts->base_align ? rec->align : story->opts->base_align;
	layout.bit_offset = LM_ARENA_ARRAY(arena, uint64_t, rec->nr_fields + 1);
	for (uint32_t f = 0; f < rec->nr_fields; f++) {
		layout.bit_offset[f] = rec->fields[f].bit_offset;
		add_field(rec, f, &end_bits, arena, out);
	}
	out->tail = rec->size > (end_bits + 7) / 8 ? rec->size - (end_bits + 7) / 8 : 0;
	out->nr_lines = lm_layout_lines(rec->size, story->opts->line);
	out->line_cost = LM_ARENA_ARRAY(arena, double, out->nr_lines + 1);
	out->heat = story->usage != NULL;
	if (!out->heat)
		return;
	for (uint32_t f = 0; f < rec->nr_fields; f++) {
		struct heat heat = { rec, story->usage->touches[v], story->usage->nr_touches[v] };

		add_parts(&heat, f, arena, &out->fields[f]);
		out->accesses += out->fields[f].reads + out->fields[f].writes;
	}
	add_cost(story, v, &layout, out);
}
