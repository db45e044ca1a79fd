// Only what the page can do without: sorting a table, showing and hiding a line.
(function () {
  "use strict";

  function key(row, column) {
    var cell = row.cells[column];
    if (!cell) { return { text: "", number: NaN }; }
    var value = cell.getAttribute("data-v");
    return { text: cell.textContent.trim(), number: value === null ? NaN : Number(value) };
  }

  // Numbers by size, then texts; what has no number (n/a, a status) goes last either way.
  function order(a, b, sign) {
    var noA = isNaN(a.number), noB = isNaN(b.number);
    if (noA !== noB) { return noA ? 1 : -1; }
    if (!noA) { return sign * (a.number - b.number); }
    return sign * a.text.localeCompare(b.text);
  }

  function sort(table, heading) {
    var body = table.tBodies[0], column = heading.cellIndex;
    var up = heading.getAttribute("aria-sort") !== "ascending";
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (other) {
      other.removeAttribute("aria-sort");
    });
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
    Array.prototype.slice.call(body.rows).map(function (row, index) {
      return { row: row, index: index, key: key(row, column) };
    }).sort(function (a, b) {
      return order(a.key, b.key, up ? 1 : -1) || a.index - b.index;
    }).forEach(function (item) { body.appendChild(item.row); });
  }

  function makeSortable(table) {
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (heading) {
      var button = document.createElement("button");
      button.type = "button";
      while (heading.firstChild) { button.appendChild(heading.firstChild); }
      heading.appendChild(button);
      button.addEventListener("click", function () { sort(table, heading); });
    });
  }

  // What of the picture's own key belongs to a line: its text, and the samples left of it.
  function keyOf(svg, name) {
    var found = [];
    svg.querySelectorAll("text").forEach(function (text) {
      if (text.textContent.trim() !== name) { return; }
      var at = text.getBoundingClientRect(), middle = (at.top + at.bottom) / 2;
      found.push(text);
      svg.querySelectorAll("path, use").forEach(function (sample) {
        var box = sample.getBoundingClientRect(), scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        if (box.right < at.left && box.right > at.left - 24 * scale && box.width < 50 * scale &&
            Math.abs((box.top + box.bottom) / 2 - middle) < 7 * scale && box.height < 20 * scale) {
          found.push(sample);
        }
      });
    });
    return found;
  }

  // gnuplot puts every line into a group whose <title> is its entry in the key; a line and its
  // points may have a group each.
  function linesOf(figure) {
    var names = [], groups = {}, heading = figure.querySelector('svg g[font-size="15.00"] text');
    figure.querySelectorAll("svg g > title").forEach(function (title) {
      var name = title.textContent.trim();
      if (!/_plot_\d+$/.test(title.parentNode.id) || !/: /.test(name)) { return; }
      if (heading && heading.textContent.trim() === name) { return; } // no line: what has no entry
      if (!Object.prototype.hasOwnProperty.call(groups, name)) { names.push(name); groups[name] = []; }
      groups[name].push(title.parentNode);
    });
    return names.map(function (name) { return { name: name, groups: groups[name] }; });
  }

  function makeToggle(figure, line) {
    var button = document.createElement("button"), key = null;
    button.type = "button";
    button.textContent = line.name.replace(/: [^:]*$/, "");
    button.setAttribute("aria-pressed", "true");
    button.addEventListener("click", function () {
      var show = button.getAttribute("aria-pressed") !== "true";
      key = key || keyOf(figure.querySelector("svg"), line.name);
      button.setAttribute("aria-pressed", String(show));
      line.groups.forEach(function (group) { group.style.visibility = show ? "" : "hidden"; });
      key.forEach(function (part) { part.style.opacity = show ? "" : "0.25"; });
    });
    return button;
  }

  function makeTogglable(figure) {
    var bar = document.createElement("div"), lines = linesOf(figure);
    if (lines.length < 2) { return; }
    bar.className = "lines";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "lines shown");
    lines.forEach(function (line) { bar.appendChild(makeToggle(figure, line)); });
    figure.insertBefore(bar, figure.firstChild);
  }

  document.querySelectorAll("table.sortable").forEach(makeSortable);
  document.querySelectorAll("figure.lines-of").forEach(makeTogglable);
})();
