import SignetCore

/// A list of URIs, one per line: `otpauth` URIs, and `otpauth-migration` URIs, which may be parts of one export.
///
/// Empty lines and lines that begin with `#` are ignored.
enum URIList {
    private static let migrationScheme = "otpauth-migration://"
    private static let enrollmentSchemes = ["otpauth://", "pushauth://", "mfauth://"]

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
        for (number, line) in Lines(bytes) where saysSomething(line) {
            let uri = text(line)
            let part = hasScheme(migrationScheme, uri) ? try GoogleMigration.read(uri, line: number) : nil
            count += max(1, part?.entries.count ?? 1)
            guard count <= ImportFormat.maxEntries else {
                throw ImportError(.tooLarge, format, "line \(number)", "more than \(ImportFormat.maxEntries) entries")
            }
            if let part {
                if batches.isNew(part) { part.add(to: &builder) }
            } else {
                add(uri, line: number, to: &builder, policy: policy)
            }
        }
        batches.addMissing(to: &builder)
        return builder.content
    }

    /// The lines of a file with their numbers, from 1, as editors count them.
    ///
    /// A line ends with LF, CR or CRLF.
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
                return (number, rest)
            }
            let line = rest[..<end]
            let isPair = rest[end] == UInt8(ascii: "\r") && end + 1 < rest.endIndex && rest[end + 1] == UInt8(ascii: "\n")
            rest = rest[(end + (isPair ? 2 : 1))...]
            return (number, line)
        }
    }

    private static func text(_ line: ArraySlice<UInt8>) -> String {
        String(decoding: line.prefix(2 * EnrollmentURI.maxLength), as: UTF8.self).trimmingWhitespace()
    }

    private static func saysSomething(_ line: ArraySlice<UInt8>) -> Bool {
        line.first { $0 != 0x20 && $0 != 0x09 }.map { $0 != UInt8(ascii: "#") } ?? false
    }

    private static func hasScheme(_ scheme: String, _ text: String) -> Bool {
        text.prefix(scheme.count).lowercased() == scheme
    }

    // MARK: Enrollment URIs

    private static func add(_ uri: String, line: Int, to builder: inout ImportBuilder, policy: EndpointPolicy) {
        func skip(_ reason: SkippedEntry.Reason, _ detail: String, type: String = "unknown", name: String? = nil) {
            builder.skip(SkippedEntry(name ?? "line \(line)", type: type, reason, detail))
        }
        // Other programs write their own types of codes as an ordinary type with an extra parameter. Without support for that
        // parameter the codes would be wrong.
        if let kind = foreignKind(uri) { return skip(.unsupportedType, "type: neither totp nor hotp", type: kind) }
        let enrollment: Enrollment
        do {
            enrollment = try EnrollmentURI.parse(uri, policy: policy)
        } catch {
            return skip(reason(for: error), "\(error.part): \(error.reason)")
        }
        guard enrollment.push == nil else {
            return skip(
                .needsServer, "it registers with a server: enroll it with 'signet enroll'", type: "push",
                name: enrollment.account.reportName)
        }
        guard let oath = enrollment.oath else { return }
        var mechanism = ImportedMechanism(kind: .oath(oath))
        mechanism.userID = enrollment.userID
        mechanism.resourceID = enrollment.oathResourceID
        builder.add(mechanism, to: enrollment.account)
        builder.describe(enrollment.account) { account in
            account.imageURL = account.imageURL ?? enrollment.imageURL
            account.backgroundColor = account.backgroundColor ?? enrollment.backgroundColor
            account.policies.merge(enrollment.policies) { first, _ in first }
        }
    }

    private static func foreignKind(_ uri: String) -> String? {
        let text = uri.lowercased()
        let kind = ["steam", "yandex", "yaotp", "motp"].first { kind in
            text.hasPrefix("otpauth://\(kind)/") || text.contains("encoder=\(kind)")
        }
        return kind == "yaotp" ? "yandex" : kind
    }

    private static func reason(for error: EnrollmentError) -> SkippedEntry.Reason {
        switch error.part {
        case "algorithm": .unsupportedAlgorithm
        case "digits": .unsupportedDigits
        case "type", "scheme": .unsupportedType
        default: .invalid
        }
    }
}
