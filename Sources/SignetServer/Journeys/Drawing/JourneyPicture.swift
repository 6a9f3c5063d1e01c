import SignetCore

/// The picture of a journey's nodes and outcomes, as SVG.
///
/// Colors are attributes, which a page's style can replace: the content security policy of the pages forbids styles in elements.
/// Each node has its id in `data-node`, and each line its two nodes in `data-from` and `data-to`.
struct JourneyPicture: Sendable {
    private let tree: JourneyTree
    private let layout: JourneyLayout

    init(_ tree: JourneyTree) {
        self.tree = tree
        layout = JourneyLayout(tree)
    }

    /// The text of the SVG document.
    var svg: String { picture.html + "\n" }

    private var picture: Markup {
        let size = "0 0 \(layout.width) \(layout.height)"
        let boxes = Dictionary(layout.boxes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        return tag(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg", "viewBox": size, "width": String(layout.width),
                "height": String(layout.height), "class": "journey", "role": "img",
                "aria-label": "The nodes of the journey \(tree.name) and their outcomes", "font-family": "system-ui, sans-serif",
                "font-size": "13",
            ]
        ) {
            void("rect", ["class": "ground", "width": "100%", "height": "100%", "fill": "#fff"]).closed
            for (index, line) in layout.lines.enumerated() {
                if let from = boxes[line.from], let to = boxes[line.to] {
                    connection(line, from, to, port: port(of: line, index), count: count(of: line))
                }
            }
            for box in layout.boxes { drawing(of: box) }
        }
    }

    private func count(of line: JourneyLayout.Line) -> Int { layout.lines.count { $0.from == line.from } }

    /// Returns the position of a line among those that begin at its node.
    private func port(of line: JourneyLayout.Line, _ index: Int) -> Int { layout.lines[..<index].count { $0.from == line.from } }

    private func connection(
        _ line: JourneyLayout.Line, _ from: JourneyLayout.Box, _ to: JourneyLayout.Box, port: Int, count: Int
    ) -> Markup {
        let (x1, y1) = (from.x + from.width, from.y + from.height * (port + 1) / (count + 1))
        let (x2, y2) = (to.x, to.y + to.height / 2)
        let bottom = max(from.y + from.height, to.y + to.height) + 12
        let path =
            line.goesBack
            ? "M\(x1) \(y1)C\(x1 + 40) \(y1) \(x1 + 40) \(bottom) \(x1) \(bottom)L\(x2) \(bottom)C\(x2 - 40) \(bottom) \(x2 - 40) \(y2) \(x2) \(y2)"
            : "M\(x1) \(y1)C\(x1 + 90) \(y1) \(x2 - 40) \(y2) \(x2) \(y2)"
        let label = line.outcomes.joined(separator: ", ")
        return tag("g", ["class": "line", "data-from": line.from, "data-to": line.to]) {
            tag(
                "path",
                [
                    "d": path, "fill": "none", "stroke": "#8a9490", "stroke-width": "1.5",
                    "stroke-dasharray": line.goesBack ? "4 3" : nil,
                ])
            void("circle", ["cx": String(x2), "cy": String(y2), "r": "3", "fill": "#8a9490"]).closed
            tag(
                "text",
                [
                    "x": String(x1 + 6), "y": String(y1 - 4), "font-size": "11", "fill": "#59635f", "stroke": "#fff",
                    "stroke-width": "3", "paint-order": "stroke",
                ]
            ) {
                label.shortened(to: 20)
                tag("title") { label }
            }
        }
    }

    private func drawing(of box: JourneyLayout.Box) -> Markup {
        func frame(_ radius: Int, _ fill: String, _ stroke: String, _ width: String) -> Markup {
            void(
                "rect",
                [
                    "x": String(box.x), "y": String(box.y), "width": String(box.width), "height": String(box.height),
                    "rx": String(radius), "fill": fill, "stroke": stroke, "stroke-width": width,
                ]
            ).closed
        }
        func text(_ text: String, _ x: Int, _ y: Int, _ more: Markup.Attributes) -> Markup {
            tag("text", ["x": String(x), "y": String(y)] + more) { text }
        }
        let middle = box.y + box.height / 2
        switch box.content {
        case .success, .failure:
            let isSuccess = box.content == .success
            return tag("g", ["class": isSuccess ? "end success" : "end failure", "data-node": box.id]) {
                frame(box.height / 2, isSuccess ? "#e3f0ee" : "#fbecec", isSuccess ? "#23635e" : "#a3262f", "1")
                text(
                    isSuccess ? "success" : "failure", box.x + box.width / 2, middle + 4,
                    ["text-anchor": "middle", "font-size": "12", "fill": isSuccess ? "#23635e" : "#a3262f"])
            }
        case .node(let type, let isEntry):
            return tag("g", ["class": isEntry ? "node entry" : "node", "data-node": box.id]) {
                tag("title") { "\(box.id): \(type)" }
                frame(6, "#fff", isEntry ? "#23635e" : "#8a9490", isEntry ? "2.5" : "1")
                text(box.id.shortened(to: 24), box.x + 10, middle - 3, ["font-weight": "600", "fill": "#1c2321"])
                text(type.shortened(to: 30), box.x + 10, middle + 14, ["font-size": "11", "fill": "#59635f"])
            }
        }
    }
}

extension Markup {
    /// The void element in the form that XML requires.
    fileprivate var closed: Markup { Markup.xml(html.dropLast() + "/>") }
}

extension String {
    /// Returns the text with at most this many characters, the last one of which stands for what is left out.
    fileprivate func shortened(to count: Int) -> String { self.count <= count ? self : prefix(count - 1) + "…" }
}

extension ServerConfiguration {
    /// Returns the picture of a journey as SVG.
    /// - Parameter name: The name of the journey.
    /// - Returns: The text of an SVG document; nil when the configuration has no such journey.
    package func picture(ofJourney name: String) -> String? {
        journeys.trees.first { $0.name == name }.map { JourneyPicture($0).svg }
    }

    /// The names of all journeys, in alphabetical order.
    package var journeyNames: [String] { journeys.trees.map(\.name).sorted() }
}
