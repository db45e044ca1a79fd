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

  // gnuplot puts every line into a group whose <title> is its name.
  function makeTogglable(figure) {
    var bar = document.createElement("div");
    bar.className = "lines";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "lines shown");
    figure.querySelectorAll("svg g > title").forEach(function (title) {
      var name = title.textContent.trim();
      if (!name || !/gnuplot_plot_/.test(title.parentNode.id)) { return; }
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.setAttribute("aria-pressed", "true");
      button.addEventListener("click", function () {
        var show = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(show));
        title.parentNode.style.visibility = show ? "" : "hidden";
      });
      bar.appendChild(button);
    });
    if (bar.childElementCount > 1) { figure.insertBefore(bar, figure.firstChild); }
  }

  document.querySelectorAll("table.sortable").forEach(makeSortable);
  document.querySelectorAll("figure.lines-of").forEach(makeTogglable);
})();
