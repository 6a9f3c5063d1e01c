import SignetCore

/// A list of URIs, one per line: `otpauth` URIs, `steam://` and a secret, and `otpauth-migration` URIs, which may be parts of one
/// export.
///
/// Empty lines and lines that begin with `#` are ignored. A line without a URI is reported, and so is the URI in the line before it,
/// which may be incomplete.
enum URIList {
    private static let migrationScheme = "otpauth-migration://"
    private static let enrollmentSchemes = ["otpauth://", "pushauth://", "mfauth://", "steam://"]

    /// Returns `google` or `otpauth` according to the first line that is not ignored; nil when that line has none of these
    /// schemes.
    static func detect(_ bytes: [UInt8]) -> ImportFormat? {
        guard let line = Lines(bytes).first(where: { saysSomething($0.text) }).map({ text($0.text) }) else { return nil }
        if hasScheme(migrationScheme, line) { return .google }
        return enrollmentSchemes.contains { hasScheme($0, line) } ? .otpauth : nil
    }

    static func read(_ bytes: [UInt8], as format: ImportFormat, policy: EndpointPolicy) throws(ImportError) -> ImportContent {
        var builder = ImportBuilder()
        var batches = MigrationBatches()
        var count = 0
        let lines = Array(Lines(bytes))
        for (number, line) in lines where saysSomething(line) {
            let uri = text(line)
            let isExport = hasScheme(migrationScheme, uri) && EnrollmentURI.starts(in: uri).count == 1
            let part = isExport ? try GoogleMigration.read(uri, line: number) : nil
            count += max(1, part?.entries.count ?? 1)
            guard count <= ImportFormat.maxEntries else {
                throw ImportError(.tooLarge, format, "line \(number)", "more than \(ImportFormat.maxEntries) entries")
            }
            if let part {
                if batches.isNew(part) { part.add(to: &builder) }
            } else if number < lines.count, isURI(line), continues(lines[number].text) {
                // What the next line has, such as the number of digits, would be missing in this URI.
                let detail = "uri: there is a line break in it, or the next line does not belong here"
                skip(uri, at: "line \(number)", detail, to: &builder)
            } else {
                add(uri, at: "line \(number)", to: &builder, policy: policy)
            }
        }
        batches.addMissing(to: &builder)
        return builder.content
    }

    /// The lines of a file with their numbers, from 1, as editors count them.
    ///
    /// A line ends with LF, CR or CRLF. NUL bytes at its end do not belong to its text.
    private struct Lines: Sequence, IteratorProtocol {
        private var rest: ArraySlice<UInt8>
        private var number = 0

        init(_ bytes: [UInt8]) {
            rest = bytes[...]
        }

        mutating func next() -> (number: Int, text: ArraySlice<UInt8>)? {
            guard !rest.isEmpty else { return nil }
            number += 1
            guard let end = rest.firstIndex(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) else {
                defer { rest = [] }
                return (number, Self.withoutPadding(rest))
            }
            let line = Self.withoutPadding(rest[..<end])
            let isPair = rest[end] == UInt8(ascii: "\r") && end + 1 < rest.endIndex && rest[end + 1] == UInt8(ascii: "\n")
            rest = rest[(end + (isPair ? 2 : 1))...]
            return (number, line)
        }

        private static func withoutPadding(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            line.lastIndex { $0 != 0 }.map { line[...$0] } ?? []
        }
    }

    private static func text(_ line: ArraySlice<UInt8>) -> String {
        String(decoding: line.prefix(2 * EnrollmentURI.maxLength), as: UTF8.self).trimmingWhitespace()
    }

    private static func saysSomething(_ line: ArraySlice<UInt8>) -> Bool {
        line.first { $0 != 0x20 && $0 != 0x09 }.map { $0 != UInt8(ascii: "#") } ?? false
    }

    private static func isURI(_ line: ArraySlice<UInt8>) -> Bool { !EnrollmentURI.starts(in: text(line)).isEmpty }

    /// Returns true for a line that may be the rest of the URI in the line before it.
    private static func continues(_ line: ArraySlice<UInt8>) -> Bool { saysSomething(line) && !isURI(line) }

    private static func hasScheme(_ scheme: String, _ text: String) -> Bool {
        text.prefix(scheme.count).lowercased() == scheme
    }

    // MARK: Enrollment URIs

    /// Adds the account of a URI, or reports why it is skipped; a text that has several URIs is reported once for each of them.
    /// - Parameters:
    ///   - uri: The text of an entry.
    ///   - location: The position of the entry in the file, such as `line 4`.
    ///   - builder: The content to which the account is added.
    ///   - policy: The policy for push endpoints.
    ///   - details: The groups, the note and the icon of the entry.
    static func add(
        _ uri: String, at location: String, to builder: inout ImportBuilder, policy: EndpointPolicy,
        details: ImportedDetails = ImportedDetails()
    ) {
        let joined = joinedURIs(uri)
        guard joined.count < 2 else {
            let detail = "uri: there are \(joined.count) URIs in one, and one of them may be cut off"
            for uri in joined { skip(uri, at: location, detail, to: &builder) }
            return
        }
        // Other programs write their own types of codes as an ordinary type with an extra parameter. Without support for that
        // parameter the codes would be wrong.
        if let kind = foreignKind(uri) {
            return skip(uri, at: location, "type: neither totp nor hotp", .unsupportedType, type: kind, to: &builder)
        }
        let (enrollment, namesAlgorithm): (Enrollment, Bool)
        do {
            (enrollment, namesAlgorithm) = try EnrollmentURI.parseListed(uri, policy: policy)
        } catch {
            let type = error == .steamSettings ? "steam" : "unknown"
            return skip(uri, at: location, "\(error.part): \(error.reason)", reason(for: error), type: type, to: &builder)
        }
        guard enrollment.push == nil else {
            let detail = "it registers with a server: enroll it with 'signet enroll'"
            return skip(uri, at: location, detail, .needsServer, type: "push", to: &builder)
        }
        guard let oath = enrollment.oath else { return }
        var mechanism = ImportedMechanism(kind: .oath(oath))
        mechanism.userID = enrollment.userID
        mechanism.resourceID = enrollment.oathResourceID
        mechanism.assumesSHA1 = !namesAlgorithm && oath.encoding == .decimal
        builder.add(mechanism, to: enrollment.account, details)
        builder.describe(enrollment.account) { account in
            account.imageURL = account.imageURL ?? enrollment.imageURL
            account.backgroundColor = account.backgroundColor ?? enrollment.backgroundColor
            account.policies.merge(enrollment.policies) { first, _ in first }
        }
    }

    /// Reports a URI by the account that it names, and by its position in the file.
    private static func skip(
        _ uri: String, at location: String, _ detail: String, _ reason: SkippedEntry.Reason = .invalid, type: String = "unknown",
        to builder: inout ImportBuilder
    ) {
        guard let account = EnrollmentURI.account(namedBy: uri) else {
            return builder.skip(SkippedEntry(location, type: type, reason, detail))
        }
        builder.skip(SkippedEntry(account.reportName, type: type, reason, "\(location): \(detail)"))
    }

    /// Returns the URIs in a text; the text itself when it is not several URIs.
    private static func joinedURIs(_ text: String) -> [String] {
        let starts = EnrollmentURI.starts(in: text).dropFirst()
        return zip([text.startIndex] + starts, starts + [text.endIndex]).map { String(text[$0..<$1]) }
    }

    private static func foreignKind(_ uri: String) -> String? {
        let text = uri.lowercased()
        let kind = ["yandex", "yaotp", "motp"].first { kind in
            text.hasPrefix("otpauth://\(kind)/") || text.contains("encoder=\(kind)")
        }
        return kind == "yaotp" ? "yandex" : kind
    }

    private static func reason(for error: EnrollmentError) -> SkippedEntry.Reason {
        switch error.part {
        case _ where error.isRepetition: .invalid
        case "algorithm": .unsupportedAlgorithm
        case "digits": .unsupportedDigits
        case "type", "scheme", "encoder": .unsupportedType
        default: .invalid
        }
    }
}
