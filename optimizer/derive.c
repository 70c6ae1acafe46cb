/* derive.c - the configurations that matter: combinations tried until each pair of options was seen. */
#include "optimizer/derive_parts.h"

#include "base/parallel.h"
#include "optimizer/same_record.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* More combinations than this are not parsed: what is left is said to be lost. */
enum { MAX_PARSES = 160 };
/* The smallest array has rows that a person would not think of: it must save so many; and its limit in switches. */
enum { MIN_SAVED = 3, MAX_LEAST = 1000 };
/* So many pairs are tried at a time to learn why combinations fail. */
enum { MAX_SUSPECTS = 4 };

/* ---- parsing ---- */

struct batch {
	struct lm_deriving *d;
	size_t from;		/* the configurations from here on */
	struct lm_err **errors;
	atomic_size_t done;
};

static void parse_one(void *arg, size_t i)
{
	struct batch *b = arg;
	size_t config = b->from + i;
	struct lm_source_request req = *b->d->req;

	/* What is given need only have a record: what functions make of it is the compilers' business. */
	req.want_bodies = b->d->bodies && (!config || config >= b->d->nr_given);
	b->errors[i] = lm_source_parse(&req, config, &b->d->sources[config]);
	lm_progress("parsing", atomic_fetch_add(&b->done, 1) + 1, b->d->configs->nr - b->from);
}

/* Parses the configurations from `from` on; an error each, or NULL. */
static struct lm_err **parse(struct lm_deriving *d, size_t from)
{
	size_t nr = d->configs->nr - from;
	struct batch b = { .d = d, .from = from, .errors = LM_ARENA_ARRAY(d->arena, struct lm_err *, nr + 1) };

	lm_progress("parsing", 0, nr);
	lm_parallel(nr, parse_one, &b);
	d->nr_parsed += nr;
	return b.errors;
}

/* ---- rows ---- */

static struct lm_row *find_row(struct lm_deriving *d, const uint8_t *turned)
{
	for (size_t i = 0; i < d->nr_rows; i++) {
		size_t k = 0;

		while (k < d->nr_switches && lm_row_turned(&d->rows[i], k) == turned[k])
			k++;
		/* A given configuration may differ in more than the switches. */
		if (k == d->nr_switches && (!i || i >= d->nr_given))
			return &d->rows[i];
	}
	return NULL;
}

static void add_row(struct lm_deriving *d, const uint8_t *turned, bool asked)
{
	uint8_t *copy = LM_ARENA_ARRAY(d->arena, uint8_t, d->nr_switches + 1);

	memcpy(copy, turned, d->nr_switches);
	*LM_ARENA_PUSH(d->arena, d->rows, d->nr_rows, d->cap_rows) = (struct lm_row){
		.turned = copy, .nr_turned = d->nr_switches, .asked = asked, .config = SIZE_MAX, .same_as = SIZE_MAX,
	};
}

static bool has_both(const struct lm_row *row, size_t a, size_t b)
{
	return lm_row_turned(row, a) && lm_row_turned(row, b);
}

/* Has a working combination both turned? */
static bool is_cleared(const struct lm_deriving *d, size_t a, size_t b)
{
	for (size_t i = 0; i < d->nr_rows; i++)
		if (d->rows[i].state == LM_ROW_WORKS && has_both(&d->rows[i], a, b))
			return true;
	return false;
}

/* ---- what to do about combinations that do not compile ---- */

static bool is_explained(const struct lm_deriving *d, const struct lm_row *row)
{
	for (size_t i = 0; i < d->nr_forbidden; i++)
		if (has_both(row, d->forbidden[i].a, d->forbidden[i].b))
			return true;
	return row->given_up || row->state != LM_ROW_FAILS;
}

/* Adds the combination of a and b (of a alone if they are one) to be tried; false if it was. */
static bool ask(struct lm_deriving *d, size_t a, size_t b)
{
	uint8_t *part = LM_ARENA_ARRAY(d->arena, uint8_t, d->nr_switches + 1);

	part[a] = part[b] = 1;
	if (find_row(d, part))
		return false;
	add_row(d, part, true);
	return true;
}

/* A combination of one switch or two that fails, its switches not being guilty alone, is why others fail. */
static void learn(struct lm_deriving *d, const struct lm_row *row)
{
	struct lm_cover_pair pair = { .a = SIZE_MAX, .x = 1, .y = 1 };
	size_t nr = 0;

	for (size_t k = 0; k < d->nr_switches; k++) {
		if (!lm_row_turned(row, k))
			continue;
		pair.a = nr ? pair.a : k;
		pair.b = k;
		nr++;
	}
	if (nr > 2 || (nr == 2 && (!is_cleared(d, pair.a, pair.a) || !is_cleared(d, pair.b, pair.b))))
		return;
	*LM_ARENA_PUSH(d->arena, d->forbidden, d->nr_forbidden, d->cap_forbidden) = pair;
	lm_cover_forbid(&d->cover, pair);
}

/* How many combinations that nothing explains have both turned. */
static size_t suspicion(const struct lm_deriving *d, size_t a, size_t b)
{
	size_t n = 0;

	for (size_t i = d->nr_given; i < d->nr_rows; i++)
		n += !is_explained(d, &d->rows[i]) && has_both(&d->rows[i], a, b);
	return n;
}

/* Switches that never worked are tried alone. */
static bool ask_singles(struct lm_deriving *d)
{
	bool more = false;

	for (size_t k = 0; k < d->nr_switches; k++)
		if (suspicion(d, k, k) && !is_cleared(d, k, k))
			more |= ask(d, k, k);
	return more;
}

/* The pairs that most of what fails has in common, and nothing that works. */
static bool ask_pairs(struct lm_deriving *d)
{
	size_t nr = d->nr_rows, asked = 0;

	while (asked < MAX_SUSPECTS) {
		size_t most = 0, a = 0, b = 0;
		uint8_t *part = LM_ARENA_ARRAY(d->arena, uint8_t, d->nr_switches + 1);

		for (size_t i = 0; i < d->nr_switches; i++) {
			for (size_t k = i + 1; k < d->nr_switches; k++) {
				size_t n = is_cleared(d, i, k) ? 0 : suspicion(d, i, k);

				memset(part, 0, d->nr_switches);
				part[i] = part[k] = 1;
				if (n <= most || find_row(d, part))
					continue;
				most = n;
				a = i;
				b = k;
			}
		}
		if (!most)
			break;
		asked += ask(d, a, b);
	}
	return d->nr_rows > nr;
}

/* Two switches that work only together: those that fail alone are tried with each other. */
static bool ask_needs(struct lm_deriving *d)
{
	bool more = false;

	for (size_t i = 0; i < d->nr_forbidden; i++) {
		for (size_t k = 0; k < i; k++) {
			const struct lm_cover_pair *a = &d->forbidden[k], *b = &d->forbidden[i];

			if (a->a == a->b && b->a == b->b)
				more |= ask(d, a->a, b->a);
		}
	}
	return more;
}

/* Asks for parts of what failed; false if nothing is left to explain or to ask. */
static bool ask_why(struct lm_deriving *d)
{
	uint8_t *turned = LM_ARENA_ARRAY(d->arena, uint8_t, d->nr_switches + 1);

	if (ask_singles(d) || ask_pairs(d) || ask_needs(d))
		return true;
	for (size_t i = d->nr_given; i < d->nr_rows; i++) {
		if (is_explained(d, &d->rows[i]))
			continue;
		d->rows[i].given_up = true;
		for (size_t k = 0; k < d->nr_switches; k++)
			turned[k] = lm_row_turned(&d->rows[i], k);
		lm_cover_lose(&d->cover, turned);
	}
	return false;
}

/* ---- the search ---- */

/* Rows of the smallest array instead of those from `from` on, if that saves enough to be worth its many turned switches. */
static void propose_least(struct lm_deriving *d, size_t from)
{
	size_t *free_ = LM_ARENA_ARRAY(d->arena, size_t, d->nr_switches + 1), nr = 0, rows;
	uint8_t *turned = LM_ARENA_ARRAY(d->arena, uint8_t, d->nr_switches + 1);
	uint8_t *row = LM_ARENA_ARRAY(d->arena, uint8_t, d->nr_switches + 1);
	size_t nr_greedy = d->nr_rows - from;

	for (size_t k = 0; k < d->nr_switches; k++) {
		bool forbidden = false;

		for (size_t i = 0; i < d->nr_forbidden; i++)
			forbidden |= d->forbidden[i].a == k && d->forbidden[i].b == k;
		if (!forbidden)
			free_[nr++] = k;
	}
	rows = nr > MAX_LEAST ? nr_greedy : lm_cover_least(nr);
	if (rows + MIN_SAVED > nr_greedy || d->least_of == nr)
		return;
	d->least_of = nr;
	d->nr_rows = from;
	for (size_t r = 0; r < rows; r++) {
		lm_cover_least_row(nr, r, row);
		memset(turned, 0, d->nr_switches);
		for (size_t k = 0; k < nr; k++)
			turned[free_[k]] = row[k];
		if (!find_row(d, turned))
			add_row(d, turned, false);
	}
}

/* Rows that cover what is open; false if there is nothing that could be tried. */
static bool propose(struct lm_deriving *d)
{
	uint8_t *turned = LM_ARENA_ARRAY(d->arena, uint8_t, d->nr_switches + 1);
	size_t before = d->nr_rows;

	lm_cover_begin(&d->cover);
	while (lm_cover_next(&d->cover, turned, d->arena)) {
		struct lm_row *known = find_row(d, turned);

		if (!known)
			add_row(d, turned, false);
		else if (known->state == LM_ROW_FAILS)
			lm_cover_lose(&d->cover, turned);
		else if (known->state == LM_ROW_WORKS)
			lm_cover_saw(&d->cover, turned);
	}
	propose_least(d, before);
	return d->nr_rows > before;
}

/* Gives row i a configuration to parse, unless one with its text is there or comes in this batch. */
static void prepare(struct lm_deriving *d, size_t i)
{
	struct lm_row *row = &d->rows[i];
	struct lm_str edits = { 0 };
	const char *items, *name, *path;

	row->key = lm_row_key(d, row);
	for (size_t k = 0; k < i; k++) {
		const struct lm_row *other = &d->rows[k];

		if (other->key && other->config != SIZE_MAX && !strcmp(other->key, row->key)) {
			row->same_as = k;
			d->nr_same_text++;
			return;
		}
	}
	items = lm_row_items(d, row, &edits);
	name = lm_row_name(d, row);
	path = lm_arena_printf(d->arena, "/linemate-virtual/auto-%zu.h", i);
	row->config = d->configs->nr;
	d->configs->items[d->configs->nr++] = lm_config_derive(&d->configs->items[0], name, items,
							       lm_arena_strdup(d->arena, lm_str_text(&edits)), path,
							       d->arena);
	lm_str_release(&edits);
}

/* The sentence without the advice at its end, since nobody gave this --config, and without the tree in front. */
static const char *why(const struct lm_deriving *d, const struct lm_err *err)
{
	const char *msg = err->msg, *end = strstr(msg, "; check the flags");
	size_t root = strlen(d->configs->root);

	if (root > 1 && !strncmp(msg, d->configs->root, root) && msg[root] == '/')
		msg += root + 1;
	return end ? lm_arena_strndup(d->arena, msg, (size_t)(end - msg)) : lm_arena_strdup(d->arena, msg);
}

static void judge(struct lm_deriving *d, size_t from, struct lm_err **errors, size_t first_config)
{
	uint8_t *turned = LM_ARENA_ARRAY(d->arena, uint8_t, d->nr_switches + 1);

	for (size_t i = from; i < d->nr_rows; i++) {
		struct lm_row *row = &d->rows[i];
		const struct lm_row *same = row->same_as == SIZE_MAX ? NULL : &d->rows[row->same_as];
		const struct lm_err *err = same ? NULL : errors[row->config - first_config];

		row->state = same ? same->state : err ? LM_ROW_FAILS : LM_ROW_WORKS;
		row->why = same ? same->why : err ? why(d, err) : NULL;
		for (size_t k = 0; k < d->nr_switches; k++)
			turned[k] = lm_row_turned(row, k);
		if (row->state == LM_ROW_WORKS && !row->asked)
			lm_cover_saw(&d->cover, turned);
	}
	/* What works now may leave one pair guilty of an older failure. */
	for (size_t i = d->nr_given; i < d->nr_rows; i++)
		if (!is_explained(d, &d->rows[i]))
			learn(d, &d->rows[i]);
	for (size_t i = 0; i < d->configs->nr - first_config; i++)
		lm_err_free(errors[i]);
}

/* Parses the new rows. */
static struct lm_err *try_rows(struct lm_deriving *d, size_t from)
{
	size_t first_config = d->configs->nr;

	for (size_t i = from; i < d->nr_rows; i++)
		prepare(d, i);
	judge(d, from, parse(d, first_config), first_config);
	return lm_deriving_take(d);
}

static struct lm_err *search(struct lm_deriving *d)
{
	struct lm_err *err = lm_deriving_take(d);
	size_t tried = d->nr_given;

	while (!err && d->nr_switches) {
		if (!ask_why(d) && !propose(d))
			break;
		/* What is too much is lost. */
		if (d->configs->nr - d->nr_given + d->nr_rows - tried > MAX_PARSES)
			break;

		size_t from = tried;

		tried = d->nr_rows;
		err = try_rows(d, from);
	}
	return err;
}

/* ---- the result ---- */

/* Combinations that fail, and contain no other one that does. */
static void list_left_out(const struct lm_deriving *d, struct lm_derived *out)
{
	out->left_out = LM_ARENA_ARRAY(d->arena, struct lm_left_out, d->nr_rows + 1);
	for (size_t i = d->nr_given; i < d->nr_rows; i++) {
		const struct lm_row *row = &d->rows[i];
		bool least = row->state == LM_ROW_FAILS;

		for (size_t j = d->nr_given; j < d->nr_rows && least; j++) {
			bool inside = j != i && d->rows[j].state == LM_ROW_FAILS;

			for (size_t k = 0; k < d->nr_switches && inside; k++)
				inside = lm_row_turned(&d->rows[j], k) <= lm_row_turned(row, k);
			least = !inside;
		}
		if (least)
			out->left_out[out->nr_left_out++] = (struct lm_left_out){ lm_row_items(d, row, NULL), row->why };
	}
}

/* The configurations of rows that cover all that can be covered, few of them: [configs->nr]. */
static bool *choose(const struct lm_deriving *d, struct lm_derived *out)
{
	bool *chosen = LM_ARENA_ARRAY(d->arena, bool, d->configs->nr + 1);
	uint8_t *all = LM_ARENA_ARRAY(d->arena, uint8_t, d->nr_rows * d->nr_switches + 1);
	struct lm_cover open = lm_cover_make(d->nr_switches, d->arena);

	for (size_t i = 0; i < d->nr_rows; i++) {
		for (size_t k = 0; k < d->nr_switches; k++)
			all[i * d->nr_switches + k] = lm_row_turned(&d->rows[i], k);
		if (i < d->nr_given)
			lm_cover_saw(&open, all + i * d->nr_switches);
	}
	for (;;) {
		size_t most = 0, best = 0;

		for (size_t i = d->nr_given; i < d->nr_rows; i++) {
			size_t gain = d->rows[i].state == LM_ROW_WORKS ? lm_cover_gain(&open, all + i * d->nr_switches) : 0;

			if (gain > most) {
				most = gain;
				best = i;
			}
		}
		if (!most)
			break;
		lm_cover_saw(&open, all + best * d->nr_switches);
		while (d->rows[best].same_as != SIZE_MAX)
			best = d->rows[best].same_as;
		chosen[d->rows[best].config] = true;
	}
	out->lost = lm_cover_lost(&open, d->arena, &out->nr_lost);
	return chosen;
}

static bool has_layout(const struct lm_deriving *d, size_t nr, const struct lm_source *s)
{
	for (size_t k = 0; k < nr; k++)
		if (lm_same_record(&d->sources[k], s))
			return true;
	return false;
}

/* Keeps the given configurations, and of the derived ones those that are needed and show another layout. */
static void compact(struct lm_deriving *d, struct lm_derived *out)
{
	bool *chosen = choose(d, out);
	size_t nr = 0;

	for (size_t i = 0; i < d->nr_rows; i++)
		out->nr_spare += i >= d->nr_given && d->rows[i].config != SIZE_MAX &&
				 d->rows[i].state == LM_ROW_WORKS && !chosen[d->rows[i].config];
	for (size_t i = 0; i < d->configs->nr; i++) {
		bool same = i >= d->nr_given && chosen[i] && has_layout(d, nr, &d->sources[i]);

		out->nr_same_layout += same;
		if (i >= d->nr_given && (!chosen[i] || same)) {
			lm_source_release(&d->sources[i]);
			continue;
		}
		d->configs->items[nr] = d->configs->items[i];
		d->sources[nr] = d->sources[i];
		d->sources[nr].config = &d->configs->items[nr];
		if (nr != i)
			d->sources[i] = (struct lm_source){ 0 };
		nr++;
	}
	d->configs->nr = nr;
	out->nr_derived = nr - d->nr_given;
}

/* Strings of sources that go must stay. */
static const char *own(const struct lm_deriving *d, const char *text)
{
	return text ? lm_arena_strdup(d->arena, text) : NULL;
}

/* A path as the diff has it, if it lies in the tree. */
static const char *own_path(const struct lm_deriving *d, const char *path)
{
	size_t n = strlen(d->configs->root);

	if (path && n > 1 && !strncmp(path, d->configs->root, n) && path[n] == '/')
		path += n + 1;
	return own(d, path);
}

static void list_switches(struct lm_deriving *d, struct lm_derived *out)
{
	for (size_t k = 0; k < d->nr_switches; k++) {
		struct lm_switch *s = &d->switches[k];

		s->name = own(d, s->name);
		s->record = own(d, s->record);
		s->path = own_path(d, s->path);
		s->turned = is_cleared(d, k, k);
	}
	for (size_t i = 0; i < d->fixed.nr; i++) {
		struct lm_tested *t = &d->fixed.items[i];

		t->name = own(d, t->name);
		t->record = own(d, t->record);
		t->path = own_path(d, t->path);
		t->defined_path = own_path(d, t->defined_path);
	}
	out->switches = d->switches;
	out->nr_switches = d->nr_switches;
	out->fixed = d->fixed.items;
	out->nr_fixed = d->fixed.nr;
	out->nr_records = d->nr_texts;
	out->nr_same_text = d->nr_same_text;
	out->nr_parsed = d->nr_parsed;
}

static struct lm_err *parse_given(struct lm_deriving *d)
{
	struct lm_err **errors = parse(d, 0), *err = NULL;

	if (errors[0] && d->bodies) {
		d->bodies = false;
		lm_err_free(errors[0]);
		lm_source_release(&d->sources[0]);
		errors[0] = lm_source_parse(d->req, 0, &d->sources[0]);
	}
	for (size_t i = 0; i < d->nr_given; i++) {
		if (err)
			lm_err_free(errors[i]);
		else
			err = errors[i];
	}
	for (size_t i = 0; i < d->nr_given && !err; i++)
		*LM_ARENA_PUSH(d->arena, d->rows, d->nr_rows, d->cap_rows) = (struct lm_row){
			.state = LM_ROW_WORKS, .config = i, .same_as = SIZE_MAX, .key = i ? NULL : "",
		};
	return err;
}

struct lm_err *lm_derive(struct lm_source_request *req, struct lm_configs *configs, struct lm_arena *arena,
			 struct lm_source **sources, struct lm_derived *out)
{
	struct lm_deriving d = { .req = req, .configs = configs, .arena = arena, .nr_given = configs->nr };
	struct lm_config *items = LM_ARENA_ARRAY(arena, struct lm_config, configs->nr + MAX_PARSES);
	struct lm_err *err;

	memcpy(items, configs->items, configs->nr * sizeof(*items));
	configs->items = items;
	d.sources = LM_ARENA_ARRAY(arena, struct lm_source, configs->nr + MAX_PARSES);
	*sources = d.sources;
	req->want_guards = true;
	d.bodies = req->want_bodies;
	req->want_bodies = false;
	err = parse_given(&d);
	if (!err)
		err = search(&d);
	if (err)
		return err;
	*out = (struct lm_derived){ 0 };
	list_switches(&d, out);
	list_left_out(&d, out);
	compact(&d, out);
	return NULL;
}
