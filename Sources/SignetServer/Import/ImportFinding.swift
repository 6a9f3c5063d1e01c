/// One difference between an export of AM and the journeys that the server runs.
package struct ImportFinding: Sendable, Hashable, CustomStringConvertible {
    /// The importance of a finding.
    package enum Severity: String, Sendable, CaseIterable, Comparable {
        /// A part of the export has no effect here, and no login becomes different.
        case note
        /// A login can become different from AM's.
        case warning
        /// A node cannot run, and a login that reaches it ends with an error.
        case stub

        /// Returns true when `left` is less important.
        package static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// The importance.
    package let severity: Severity
    /// The path of the file, as it was found.
    package let file: String
    /// The place in the file, as a JSON Pointer (RFC 6901).
    package let pointer: String
    /// The name of the journey; nil when the finding concerns the whole file.
    package let journey: String?
    /// The name of the node in the server; nil when the finding concerns the whole journey.
    package let node: String?
    /// The description.
    package let text: String

    init(
        _ severity: Severity, at place: ExportPlace, journey: String? = nil, node: String? = nil, _ text: String
    ) {
        self.severity = severity
        file = place.file
        pointer = place.pointer
        self.journey = journey
        self.node = node
        self.text = text
    }

    /// The finding as one line in the format of compiler messages.
    package var description: String {
        let subject = [journey.map { "journey `\($0)`" }, node.map { "node `\($0)`" }].compactMap(\.self).joined(separator: ", ")
        return "\(file):\(pointer): \(severity.rawValue): " + (subject.isEmpty ? text : "\(subject): \(text)")
    }
}

/// A place in an export: a file, and a value in it.
struct ExportPlace: Sendable, Hashable {
    let file: String
    /// The value, as a JSON Pointer (RFC 6901); empty for the whole file.
    private(set) var pointer = ""

    init(file: String) { self.file = file }

    /// Returns the place of a member or an element.
    func appending(_ member: String) -> ExportPlace {
        var place = self
        place.pointer += "/" + member.replacing("~", with: "~0").replacing("/", with: "~1")
        return place
    }
}
