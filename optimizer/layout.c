/*
 * layout.c - where fields land in memory for a given order.
 *
 * The rules are those of the System V ABI as gcc and clang implement it for
 * records in C.  Both compilers were asked (tests/judge); what they agree on:
 *
 * - A plain member starts at the next byte that its alignment divides.  Packed
 *   members (or members of a packed record) have alignment 1.  aligned() on
 *   the member raises either; #pragma pack(n) caps the result, aligned()
 *   included.  aligned() on the record itself is never capped.
 * - A bit-field continues at the next bit, unless it would then reach into
 *   more than one unit of its declared type, laid out at the multiples of the
 *   type's alignment.  Packed ones, and all under #pragma pack, may straddle.
 * - A bit-field raises the record's alignment to its type's, unless unnamed.
 *   Under #pragma pack even a packed one does, up to the cap.
 * - :0 moves to the next multiple of the type's alignment, whatever is packed
 *   or capped, and raises nothing.
 *
 * Where they differ (an aligned() on a bit-field that is smaller than the
 * type's alignment or larger than #pragma pack's; a bit-field of an overaligned
 * typedef) this is clang's answer, since record.h holds clang's offsets;
 * output/verify.c then finds gcc of another opinion, and nothing is printed.
 */
#include "optimizer/layout.h"

#include <assert.h>

/*
 * No real field is larger than this.  With it, no sum over 2^22 fields can
 * overflow in bits; of a record that claims more, the size comes out other
 * than clang's, and the caller refuses.
 */
#define MAX_FIELD_BYTES (UINT64_C(1) << 38)
#define NOT_PLACED UINT64_MAX

struct cursor {
	const struct lm_record *rec;
	const struct lm_resize *resize;
	uint64_t bit;		/* next free bit */
	uint64_t end;		/* end of the furthest field, in bits: differs from bit in unions */
	uint64_t align;		/* bits */
	uint64_t line;		/* bits */
	uint32_t nr;		/* fields placed */
	uint64_t *bit_offset;
};

static inline uint64_t max64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* align is a power of two; 0 counts as 1. */
static uint64_t round_up(uint64_t value, uint64_t align)
{
	return align > 1 ? (value + align - 1) & ~(align - 1) : value;
}

static inline uint64_t field_bytes(const struct cursor *c, uint32_t index)
{
	uint64_t size = min64(c->rec->fields[index].size, MAX_FIELD_BYTES);
	int64_t by;

	if (!c->resize || c->resize->field != index)
		return size;
	by = c->resize->bytes;
	if (by < 0)
		return size - min64(size, -(uint64_t)by);
	return size + min64((uint64_t)by, MAX_FIELD_BYTES);
}

/* Places a bit-field; returns its offset. */
static uint64_t place_bits(struct cursor *c, const struct lm_field *f)
{
	bool packed = f->packed || c->rec->packed;
	uint64_t type = 8 * (uint64_t)f->type_align, attr = 8 * (uint64_t)f->attr_align;
	uint64_t pack = 8 * (uint64_t)c->rec->pack;
	uint64_t unit = 8 * min64(f->size, MAX_FIELD_BYTES);
	uint64_t align = max64(packed && f->bits ? 1 : type, attr);
	uint64_t at = c->bit;

	if (pack && f->bits)
		align = min64(packed ? max64(type, attr) : align, pack);
	if (!f->bits || (!pack && (at & (max64(align, 1) - 1)) + f->bits > unit))
		at = round_up(at, align);
	else if (attr && (!pack || attr <= pack))
		at = round_up(at, attr);
	if (f->name[0])
		c->align = max64(c->align, align);
	c->bit = at + f->bits;
	return at;
}

/* Places a member that is no bit-field; returns its offset. */
static inline uint64_t place_plain(struct cursor *c, uint32_t index)
{
	const struct lm_field *f = &c->rec->fields[index];
	uint64_t align = max64(f->packed || c->rec->packed ? 1 : f->type_align, f->attr_align);

	if (c->rec->pack)
		align = min64(align, c->rec->pack);
	align = 8 * max64(align, 1);
	uint64_t at = round_up(c->bit, align);

	c->align = max64(c->align, align);
	c->bit = at + 8 * field_bytes(c, index);
	return at;
}

static inline void place(struct cursor *c, uint32_t index, bool line_start)
{
	if (line_start) {
		c->bit = round_up(c->bit, c->line);
		c->align = max64(c->align, c->line);
	}
	if (c->rec->fields[index].bits != LM_NOT_BITS)
		c->bit_offset[index] = place_bits(c, &c->rec->fields[index]);
	else
		c->bit_offset[index] = place_plain(c, index);
	c->end = max64(c->end, c->bit);
	if (c->rec->is_union)
		c->bit = 0;
	c->nr++;
}

/* For the first time: no order names a field twice. */
static inline void place_new(struct cursor *c, uint32_t index, bool line_start)
{
	assert(index < c->rec->nr_fields && c->bit_offset[index] == NOT_PLACED);
	place(c, index, line_start);
}

static struct cursor begin(const struct lm_record *rec, uint32_t line, const struct lm_resize *resize,
			   struct lm_layout *out)
{
	assert(line && !(line & (line - 1)));
	for (uint32_t i = 0; i < rec->nr_fields; i++)
		out->bit_offset[i] = NOT_PLACED;
	return (struct cursor){
		.rec = rec, .resize = resize, .align = 8, .line = 8 * (uint64_t)line, .bit_offset = out->bit_offset,
	};
}

static void end(struct cursor *c, struct lm_layout *out)
{
	assert(c->nr == c->rec->nr_fields);
	c->align = max64(c->align, 8 * (uint64_t)c->rec->attr_align);
	out->size = round_up(c->end, c->align) / 8;
	out->align = (uint32_t)(c->align / 8);
}

void lm_layout_fields(const struct lm_record *rec, const uint32_t *order, const uint8_t *line_start,
		      uint32_t line, const struct lm_resize *resize, struct lm_layout *out)
{
	struct cursor c = begin(rec, line, resize, out);

	for (uint32_t i = 0; i < rec->nr_fields; i++)
		place_new(&c, order[i], line_start && line_start[i]);
	end(&c, out);
}

/* A barrier before a unit that this view lacks is absent with it. */
static inline bool starts_line(const struct lm_order *order, uint32_t position, uint32_t k)
{
	return !k && order->barrier && order->barrier[position];
}

void lm_layout_units(const struct lm_view *view, uint32_t nr_units, const struct lm_order *order, uint32_t line,
		     struct lm_layout_mark *marks, struct lm_layout *out)
{
	struct cursor c = begin(view->rec, line, NULL, out);

	for (uint32_t i = 0; i < nr_units; i++) {
		uint32_t unit = order->units[i], first = view->first_field[unit];

		if (marks)
			marks[i] = (struct lm_layout_mark){ c.bit, c.end, c.align, c.nr };
		for (uint32_t k = 0; k < view->nr_fields[unit]; k++)
			place_new(&c, first + k, starts_line(order, i, k));
	}
	end(&c, out);
}

void lm_layout_resized(const struct lm_view *view, uint32_t nr_units, const struct lm_order *order, uint32_t line,
		       const struct lm_layout_mark *marks, uint32_t from, const struct lm_resize *resize,
		       struct lm_layout *out)
{
	const struct lm_layout_mark *m = &marks[from];
	struct cursor c = {
		.rec = view->rec, .resize = resize, .bit = m->bit, .end = m->end, .align = m->align,
		.line = 8 * (uint64_t)line, .nr = m->nr, .bit_offset = out->bit_offset,
	};

	for (uint32_t i = from; i < nr_units; i++) {
		uint32_t unit = order->units[i], first = view->first_field[unit];

		for (uint32_t k = 0; k < view->nr_fields[unit]; k++)
			place(&c, first + k, starts_line(order, i, k));
	}
	end(&c, out);
}

uint64_t lm_layout_lines(uint64_t size, uint32_t line)
{
	assert(line);
	return size / line + !!(size % line);
}
