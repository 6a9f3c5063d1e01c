import SignetCore
import YAMLText

/// A journey in the form of the configuration file.
struct ImportedJourney: Sendable {
    let name: String
    let description: String?
    let isInner: Bool
    /// The nodes, the first one of the journey first.
    var nodes: [ImportedNode]
    let place: ExportPlace
    /// The position of the journey in messages.
    let line: Int

    /// The entry of the section `journeys`.
    var entry: MarkedValue.Entry {
        let position = SourcePosition(line: line, column: 1)
        func member(_ key: String, _ value: MarkedValue) -> MarkedValue.Entry {
            MarkedValue.Entry(key: key, position: position, value: value)
        }
        var members: [MarkedValue.Entry] = []
        if isInner { members.append(member("innerTreeOnly", MarkedValue(.bool(true), at: position))) }
        members.append(member("nodes", MarkedValue(content: .mapping(nodes.map(\.entry)), position: position)))
        return member(name, MarkedValue(content: .mapping(members), position: position))
    }

    /// The names of the nodes that cannot run.
    var stubs: [String] { nodes.filter(\.isStub).map(\.name) }
}

/// A node in the form of the configuration file.
///
/// Problems that the reader of configuration files finds have the line of the node, and the column of the setting.
struct ImportedNode: Sendable {
    /// A setting of the node.
    struct Setting: Sendable {
        let name: String
        var value: MarkedValue
    }

    /// The name in the journey.
    let name: String
    var type: String
    var settings: [Setting]
    /// The targets, by outcome, in the order of the node's outcomes.
    var outcomes: [(outcome: String, target: String)]
    /// The position of the node in messages.
    let line: Int

    var isStub: Bool { type == StubNode.type.name }
    var position: SourcePosition { SourcePosition(line: line, column: 1) }

    /// The column of the first setting.
    private static let firstColumn = 2

    /// The entry of the section `nodes`.
    var entry: MarkedValue.Entry {
        var members = settingEntries
        let targets = outcomes.map { outcome, target in
            MarkedValue.Entry(key: outcome, position: position, value: MarkedValue(.string(target), at: position))
        }
        if !targets.isEmpty {
            members.append(
                MarkedValue.Entry(
                    key: "outcomes", position: position, value: MarkedValue(content: .mapping(targets), position: position)))
        }
        return MarkedValue.Entry(
            key: name, position: position, value: MarkedValue(content: .mapping(members), position: position))
    }

    /// The type and the settings, as they are written in the list of a page.
    var part: MarkedValue { MarkedValue(content: .mapping(settingEntries), position: position) }

    private var settingEntries: [MarkedValue.Entry] {
        [MarkedValue.Entry(key: "type", position: position, value: MarkedValue(.string(type), at: position))]
            + settings.enumerated().map { index, setting in
                let position = SourcePosition(line: line, column: index + Self.firstColumn)
                return MarkedValue.Entry(key: setting.name, position: position, value: setting.value.moved(to: position))
            }
    }

    /// Returns the index of the setting with a problem; nil when the problem concerns the node itself.
    func setting(at position: SourcePosition) -> Int? {
        let index = position.column - Self.firstColumn
        return settings.indices.contains(index) ? index : nil
    }
}

extension MarkedValue {
    /// Returns the value with one position for all of it.
    fileprivate func moved(to position: SourcePosition) -> MarkedValue {
        let content: Content =
            switch content {
            case .scalar: content
            case .list(let elements): .list(elements.map { $0.moved(to: position) })
            case .mapping(let entries):
                .mapping(entries.map { Entry(key: $0.key, position: position, value: $0.value.moved(to: position)) })
            }
        return MarkedValue(content: content, position: position)
    }
}
