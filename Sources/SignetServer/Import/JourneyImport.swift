import SignetCore
import YAMLText

/// The journeys of an AM server, read from an export (docs/reference/journey-import.md).
package struct JourneyImport: Sendable {
    /// The behavior of nodes that cannot run here.
    package enum Stubs: String, Sendable, CaseIterable {
        /// A login that reaches the node ends with an error.
        case fail
        /// The client chooses the outcome of the node.
        case ask
    }

    /// A journey, for a report.
    package struct Summary: Sendable, Hashable {
        /// The name.
        package let name: String
        /// The path of the file with the journey.
        package let file: String
        /// The number of nodes that the journey can reach.
        package let nodeCount: Int
        /// The names of the nodes that cannot run.
        package let stubs: [String]
        /// True when only other journeys can run it.
        package let isInner: Bool
    }

    /// All differences between the export and the journeys here, in the order of the files.
    package let findings: [ImportFinding]
    let journeys: [ImportedJourney]

    /// Reads an export.
    /// - Parameters:
    ///   - path: The path of a file, or of a directory with files.
    ///   - stubs: The behavior of nodes that cannot run here.
    ///   - configuration: A configuration file whose journeys the nodes can also run; nil for none.
    /// - Throws: ``JourneyImportError`` when a file cannot be read or exceeds a limit, or when none has a journey.
    package init(
        at path: String, stubs: Stubs = .fail, besides configuration: ConfigurationSource? = nil
    ) throws(JourneyImportError) {
        self.init(try JourneyExport(at: path), stubs: stubs, besides: configuration)
    }

    init(_ export: JourneyExport, stubs: Stubs = .fail, besides configuration: ConfigurationSource? = nil) {
        let converter = JourneyConverter(export, stubs: stubs, others: configuration?.journeyNames ?? [])
        journeys = converter.journeys
        let names =
            export.themes.map { ($0.value, "theme `\($0.key.shortened)`: pages have no themes here") }
            + export.emailTemplates.map {
                ($0.value, "email template `\($0.key.shortened)`: emails have a text of their own here")
            }
        findings = (converter.findings + names.map { ImportFinding(.note, at: $0, $1) }).sorted {
            ($0.file, $0.pointer, $0.text) < ($1.file, $1.pointer, $1.text)
        }
    }

    /// The journeys, for a report.
    package var summaries: [Summary] {
        journeys.map {
            Summary(name: $0.name, file: $0.place.file, nodeCount: $0.nodes.count, stubs: $0.stubs, isInner: $0.isInner)
        }
    }

    /// The entries of the section `journeys`.
    var entries: [MarkedValue.Entry] { journeys.map(\.entry) }

    /// A configuration file with the journeys, and with the users, clients and attributes of the starter file.
    package var yaml: String {
        var text = Starter.people + "\njourneys:\n"
        for (index, journey) in journeys.enumerated() {
            if index > 0 { text += "\n" }
            for line in journey.commentLines { text += "  # \(line)\n" }
            text += ConfigurationText.block([journey.entry], indent: 2)
        }
        return text
    }
}

extension ImportedJourney {
    /// The description of the journey, and the names of the nodes that cannot run.
    fileprivate var commentLines: [String] {
        let text = (description ?? "").split(whereSeparator: \.isNewline).first.map { [String($0).visible] } ?? []
        return text + (stubs.isEmpty ? [] : ["Cannot run here: \(stubs.joined(separator: ", ").visible)"])
    }
}

extension String {
    /// The text without control characters and characters without a shape, which a comment must not have.
    fileprivate var visible: String {
        String(String.UnicodeScalarView(unicodeScalars.filter { $0 != "*" && ConfigurationText.isVisible($0) }).prefix(200))
    }
}
