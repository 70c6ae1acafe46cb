/*
 * The page of `linemate report --html`.  All that is said is in the markup; this only chooses one configuration,
 * opens a field's details, walks with the keys, and draws links from where fields were to where they go.
 */
(function () {
	"use strict";
	var card = document.getElementById("card");
	var views = Array.from(document.querySelectorAll(".view"));
	var chooser = document.querySelector(".chooser");
	var SVG = "http://www.w3.org/2000/svg";
	var shown = null, pinned = false, timer = 0, closing = false;

	/* ---- links ---- */

	function links(view) {
		var stage = view.querySelector(".stage"), old = stage.querySelector(".links");
		var box = stage.getBoundingClientRect(), svg = document.createElementNS(SVG, "svg"), nr = 0;

		if (old)
			old.remove();
		if (!stage.classList.contains("two") || view.hidden)
			return;
		svg.setAttribute("class", "links");
		svg.setAttribute("aria-hidden", "true");
		stage.querySelectorAll("[data-side=b] .cell.link").forEach(function (from) {
			var to = stage.querySelector("[data-side=a] .cell.label[data-f='" + from.dataset.f + "']");

			if (to)
				link(svg, box, from, to, nr++);
		});
		stage.appendChild(svg);
	}

	/* Along the gaps between rows and in the gutter: over nothing that is to be read. */
	function link(svg, box, from, to, nr) {
		var a = from.getBoundingClientRect(), b = to.getBoundingClientRect();
		var left = from.closest(".side").getBoundingClientRect(), right = to.closest(".side").getBoundingClientRect();
		var beside = right.left > left.right, step = (nr % 5) * 6;
		var x1 = a.left + a.width / 2 - box.left, y1 = a.top - box.top, x2 = b.left + b.width / 2 - box.left, y2 = b.top - box.top;
		var gutter = (beside ? left.right + 8 : right.right + 4) - box.left + (beside ? step : step / 3);
		var up1 = y1 - 3 - nr % 3 * 2, up2 = y2 - 7 - nr % 2 * 2, path = document.createElementNS(SVG, "path"), tip = document.createElementNS(SVG, "path");
		var down = up2 > up1 ? 1 : -1, turn = Math.min(6, Math.abs(up2 - up1) / 2), back = x2 > gutter ? 1 : -1;
		var d = "M" + x1 + " " + y1 + "V" + up1 + "H" + (gutter - turn) +
			"Q" + gutter + " " + up1 + " " + gutter + " " + (up1 + down * turn) + "V" + (up2 - down * turn) +
			"Q" + gutter + " " + up2 + " " + (gutter + back * turn) + " " + up2 + "H" + x2 + "V" + (y2 - 4);

		path.setAttribute("d", d);
		path.setAttribute("data-f", from.dataset.f);
		path.setAttribute("class", from.classList.contains("moves") ? "move" : "shift");
		tip.setAttribute("d", "M" + (x2 - 4.5) + " " + (y2 - 6) + "h9l-4.5 6z");
		tip.setAttribute("class", "tip");
		svg.append(path, tip);
	}

	function all_links() {
		views.forEach(links);
	}

	/* ---- one configuration at a time ---- */

	function choose(id) {
		close();
		views.forEach(function (view) {
			view.hidden = view.id !== id;
			links(view);
		});
	}

	/* ---- the card ---- */

	function twin(cell) {
		var side = cell.closest(".side").dataset.side === "b" ? "a" : "b";

		return cell.closest(".stage").querySelector("[data-side=" + side + "] .cell.label[data-f='" + cell.dataset.f + "']");
	}

	function button(text, name, act) {
		var b = document.createElement("button");

		b.type = "button";
		b.className = name;
		b.textContent = text;
		b.addEventListener("click", act);
		return b;
	}

	function fill(cell) {
		var row = document.getElementById("f" + cell.dataset.f), heads = row.closest("table").tHead.rows[0].cells;
		var title = document.createElement("h5"), list = document.createElement("dl"), other = twin(cell);

		title.textContent = row.cells[0].textContent;
		for (var i = 1; i < row.cells.length; i++) {
			var dt = document.createElement("dt"), dd = document.createElement("dd");

			if (!row.cells[i].textContent)
				continue;
			dt.textContent = heads[i].textContent;
			Array.from(row.cells[i].childNodes).forEach(function (n) { dd.appendChild(n.cloneNode(true)); });
			if (row.cells[i].children.length)
				dt.className = dd.className = "wide";
			list.append(dt, dd);
		}
		card.replaceChildren(title, list);
		card.setAttribute("aria-label", "Details of " + title.textContent);
		if (pinned) {
			card.append(button("Close", "close", function () { close(true); }));
			if (other)
				card.append(button(cell.closest(".side").dataset.side === "b" ? "Show it after" : "Show it before", "go", function () {
					close();
					other.focus();
					other.scrollIntoView({ block: "nearest" });
				}));
		}
	}

	function put(cell) {
		var at = cell.getBoundingClientRect(), width = card.offsetWidth, height = card.offsetHeight;
		var under = at.bottom + 10 + height < innerHeight || at.top < height + 10;

		card.style.left = scrollX + Math.max(8, Math.min(at.left, document.documentElement.clientWidth - width - 12)) + "px";
		card.style.top = scrollY + (under ? at.bottom + 10 : at.top - height - 10) + "px";
	}

	function marks(cell, on) {
		var other = twin(cell);

		cell.classList.toggle("on", on);
		if (other)
			other.classList.toggle("twin", on);
	}

	function open(cell, pin) {
		if (shown)
			marks(shown, false);
		shown = cell;
		pinned = pin;
		fill(cell);
		card.hidden = false;
		put(cell);
		marks(cell, true);
	}

	function close(give_back) {
		var cell = shown;

		clearTimeout(timer);
		if (!cell)
			return;
		give_back = give_back || card.contains(document.activeElement);
		marks(cell, false);
		shown = null;
		pinned = false;
		card.hidden = true;
		if (give_back) {
			closing = true;
			cell.focus({ preventScroll: true });
			closing = false;
		}
	}

	/* ---- keys ---- */

	function cells_of(lines) {
		return Array.from(lines.querySelectorAll(".cell"));
	}

	/* One stop for Tab in each list of lines: the arrows walk inside. */
	function stop_at(lines, cell) {
		cells_of(lines).forEach(function (c) { c.tabIndex = c === cell ? 0 : -1; });
	}

	/* The field above or below that reaches over the middle of this one. */
	function beside(cell, by) {
		var line = cell.closest("li"), mid = cell.offsetLeft + cell.offsetWidth / 2, best = null;

		do
			line = by > 0 ? line.nextElementSibling : line.previousElementSibling;
		while (line && !line.querySelector(".cell"));
		if (line)
			cells_of(line).forEach(function (c) {
				var off = Math.abs(c.offsetLeft + c.offsetWidth / 2 - mid);

				if (!best || off < Math.abs(best.offsetLeft + best.offsetWidth / 2 - mid))
					best = c;
			});
		return best;
	}

	function walk(cell, key) {
		var lines = cell.closest(".lines"), cells = cells_of(lines), i = cells.indexOf(cell);

		switch (key) {
		case "ArrowRight": return cells[i + 1];
		case "ArrowLeft": return cells[i - 1];
		case "ArrowDown": return beside(cell, 1);
		case "ArrowUp": return beside(cell, -1);
		case "Home": return cells[0];
		case "End": return cells[cells.length - 1];
		}
		return undefined;
	}

	document.addEventListener("keydown", function (e) {
		var cell = e.target.closest ? e.target.closest(".cell") : null, next;

		if (e.key === "Escape" && shown) {
			close(true);
			e.preventDefault();
			return;
		}
		if (!cell || e.ctrlKey || e.altKey || e.metaKey)
			return;
		next = walk(cell, e.key);
		if (next)
			next.focus();
		if (next !== undefined)
			e.preventDefault();
	});

	document.addEventListener("focusin", function (e) {
		var cell = e.target.closest(".cell");

		if (cell) {
			stop_at(cell.closest(".lines"), cell);
			if (!closing && cell.matches(":focus-visible"))
				open(cell, false);
		} else if (!card.contains(e.target)) {
			close();
		}
	});

	/* ---- pointer ---- */

	document.addEventListener("click", function (e) {
		var cell = e.target.closest(".cell");

		if (!cell) {
			if (!card.contains(e.target))
				close();
			return;
		}
		clearTimeout(timer);
		open(cell, true);
		if (!e.detail)			/* by a key */
			card.focus({ preventScroll: true });
	});

	document.addEventListener("pointerover", function (e) {
		var cell = e.target.closest(".cell");

		if (e.pointerType !== "mouse" || pinned)
			return;
		clearTimeout(timer);
		if (cell)
			timer = setTimeout(function () { open(cell, false); }, shown ? 40 : 120);
		else if (shown && shown !== document.activeElement && !card.contains(e.target))
			timer = setTimeout(close, 250);
	});

	/* ---- start ---- */

	document.querySelectorAll(".lines").forEach(function (lines) {
		stop_at(lines, lines.querySelector(".cell.moves") || lines.querySelector(".cell"));
	});
	document.querySelectorAll(".script-only").forEach(function (p) { p.hidden = false; });
	if (chooser) {
		chooser.hidden = false;
		chooser.addEventListener("change", function (e) { choose(e.target.value); });
		choose(chooser.querySelector("input:checked").value);
	}
	addEventListener("beforeprint", function () {
		close();
		document.documentElement.classList.add("printing");
		all_links();
	});
	addEventListener("afterprint", function () {
		document.documentElement.classList.remove("printing");
		all_links();
	});
	new ResizeObserver(all_links).observe(document.body);
	all_links();
}());
