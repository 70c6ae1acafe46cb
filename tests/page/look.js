/* Put into a page by page.py: what can be seen, as words of what is wrong. */
window.look = (function () {
	"use strict";
	const rect = (e) => e.getBoundingClientRect();
	const near = (a, b, by) => Math.abs(a - b) <= by;
	const visible = (e) => e && e.checkVisibility() && rect(e).width > 0 && rect(e).height > 0;

	function shown() {
		return Array.from(document.querySelectorAll(".view")).filter(visible).map((v) => v.id);
	}

	/* Cells of a line that reach over x. */
	function at(line, x) {
		return Array.from(line.querySelectorAll(".cell")).filter((c) => rect(c).left <= x + 1 && rect(c).right >= x - 1);
	}

	/* Every bracket hangs under its line, its ends under two cells that say to which pair they belong. */
	function pairs(view) {
		const wrong = [], brackets = document.querySelectorAll(`#${view} [data-side=b] .bracket`);

		if (!brackets.length)
			wrong.push("no bracket");
		brackets.forEach((b) => {
			const line = b.closest(".line"), bar = rect(line.querySelector(".bar")), r = rect(b);
			const of = (c) => c.ariaLabel.includes(`of pair ${b.dataset.pair}`);

			if (!visible(b) || r.width < 5)
				wrong.push("invisible");
			if (r.top < bar.bottom - 1 || r.top > bar.bottom + 8)
				wrong.push(`not under its line: ${r.top} ${bar.bottom}`);
			if (!at(line, r.left).some(of) || !at(line, r.right).some(of))
				wrong.push(`ends elsewhere: pair ${b.dataset.pair}`);
			if (!Array.from(line.querySelectorAll(".joined")).some((p) => visible(p) && p.textContent.startsWith(b.dataset.pair)))
				wrong.push(`not told: pair ${b.dataset.pair}`);
		});
		return wrong;
	}

	/* Every field to be linked has a path from its top before to its top after. */
	function links(view) {
		const wrong = [], stage = document.querySelector(`#${view} .stage`), zero = rect(stage);
		const from = Array.from(stage.querySelectorAll("[data-side=b] .cell.link"));

		if (!from.some((c) => c.classList.contains("moves")))
			wrong.push("nothing moves");
		from.forEach((cell) => {
			const to = stage.querySelector(`[data-side=a] .cell.label[data-f="${cell.dataset.f}"]`);
			const path = stage.querySelector(`.links path[data-f="${cell.dataset.f}"]`);
			const a = rect(cell), b = rect(to);

			if (!path) {
				wrong.push(`no path for ${cell.dataset.f}`);
				return;
			}
			const p = path.getPointAtLength(0), q = path.getPointAtLength(path.getTotalLength());

			if (!near(p.x + zero.left, a.left + a.width / 2, 2) || !near(p.y + zero.top, a.top, 2))
				wrong.push(`begins at ${p.x} ${p.y}`);
			if (!near(q.x + zero.left, b.left + b.width / 2, 2) || !near(q.y + zero.top, b.top, 6))
				wrong.push(`ends at ${q.x} ${q.y}`);
			if (path.getTotalLength() < 20 || getComputedStyle(path).stroke === "none")
				wrong.push("no line");
		});
		return wrong;
	}

	function card() {
		const c = document.getElementById("card");

		return visible(c) ? c.textContent : "";
	}

	function soon() {
		return new Promise((done) => setTimeout(() => done(card() !== ""), 400));
	}

	function middle(selector) {
		const e = document.querySelector(selector);

		e.scrollIntoView({ block: "center" });
		return [rect(e).left + rect(e).width / 2, rect(e).top + rect(e).height / 2];
	}

	function line() {
		return Number(document.activeElement.closest(".line").querySelector(".nr").lastChild.textContent);
	}

	function wider(width) {
		return Array.from(document.querySelectorAll("main *")).filter((e) => visible(e) && !e.closest(".sr, svg") &&
			!e.closest(".cell") && rect(e).right > width + 1).map((e) => `${e.tagName}.${e.className} ${rect(e).right}`).slice(0, 5);
	}

	function touch_all() {
		document.querySelectorAll(".cell").forEach((c) => { c.focus(); c.click(); });
		document.querySelectorAll("details").forEach((d) => { d.open = true; });
	}

	/* ---- contrast, as WCAG 2 defines it ---- */

	function colours(text) {
		return Array.from(text.matchAll(/rgba?\(([^)]*)\)/g)).map((m) => m[1].split(/[ ,/]+/).map(Number))
			.filter((c) => c.length < 4 || c[3] > 0);
	}

	function light(c) {
		const [r, g, b] = c.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);

		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	}

	function ratio(a, b) {
		const [x, y] = [light(a), light(b)].sort((p, q) => q - p);

		return (x + 0.05) / (y + 0.05);
	}

	/* All warmth that there is: a profile need not have each. */
	function heat() {
		const style = getComputedStyle(document.documentElement);

		return ["w", "r"].flatMap((k) => [1, 2, 3, 4, 5].map((n) => style.getPropertyValue(`--${k}${n}`).trim()))
			.map((c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)));
	}

	/* What may lie behind an element's text: a cell's heat and ground, else the nearest background. */
	function behind(e) {
		const cell = e.closest(".cell");

		if (cell) {
			return heat().concat([cell, ...cell.querySelectorAll("i")].flatMap((i) => colours(getComputedStyle(i).backgroundColor)
				.concat(colours(getComputedStyle(i).backgroundImage))));
		}
		for (; e; e = e.parentElement) {
			const found = colours(getComputedStyle(e).backgroundColor);

			if (found.length)
				return found;
		}
		return [[255, 255, 255]];
	}

	function contrast() {
		const low = new Set(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		let seen = 0;

		while (walker.nextNode()) {
			const e = walker.currentNode.parentElement;

			if (!walker.currentNode.data.trim() || !visible(e) || e.closest(".sr, .skip, script"))
				continue;
			seen++;
			for (const back of behind(e)) {
				const r = ratio(colours(getComputedStyle(e).color)[0], back);

				if (r < 4.5)
					low.add(`${r.toFixed(2)} ${e.tagName}.${e.className} ${getComputedStyle(e).color} on ${back}`);
			}
		}
		return [seen, Array.from(low)];
	}

	return { shown, pairs, links, card, soon, middle, line, wider, touch_all, contrast };
}());
