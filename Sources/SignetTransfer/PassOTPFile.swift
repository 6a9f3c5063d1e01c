import SignetCore

/// A decrypted file of pass with the extension pass-otp, or several of them.
///
/// The first lines are a password and other values; a line that begins with `otpauth://` has the codes. The format is that of
/// pass-otp's source (`otp.bash`).
enum PassOTPFile {
    private static let format = ImportFormat.passOTP

    /// Returns true for a text with an `otpauth` URI in a line after the first one.
    ///
    /// A file that begins with a URI is a list, as other programs write it.
    static func recognizes(_ bytes: [UInt8]) -> Bool {
        guard String(strictUTF8: bytes) != nil else { return false }
        let lines = lines(bytes)
        guard let first = lines.first(where: { !$0.isEmpty }) else { return false }
        return !isURI(first) && lines.contains(where: isURI)
    }

    static func read(_ bytes: [UInt8], policy: EndpointPolicy) throws(ImportError) -> ImportContent {
        var builder = ImportBuilder()
        var count = 0
        for (index, line) in lines(bytes).enumerated() where !line.isEmpty {
            guard isURI(line) else {
                builder.leaveOut("line")
                continue
            }
            count += 1
            guard count <= ImportFormat.maxEntries else {
                throw ImportError(.tooLarge, format, "line \(index + 1)", "more than \(ImportFormat.maxEntries) entries")
            }
            URIList.add(line, at: "line \(index + 1)", to: &builder, policy: policy)
        }
        guard count > 0 else { throw format.malformed("file", "no line begins with otpauth://") }
        return advanced(builder.content)
    }

    private static func lines(_ bytes: [UInt8]) -> [String] {
        ImportFormat.withoutPadding(bytes).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            String(decoding: line.prefix(2 * EnrollmentURI.maxLength), as: UTF8.self).trimmingWhitespace()
        }
    }

    private static func isURI(_ line: String) -> Bool { line.hasPrefix("otpauth://") }

    // MARK: Counters

    /// Returns the content with the next counters.
    ///
    /// pass-otp increments the counter before it generates a code, and writes the counter of that code into the file.
    private static func advanced(_ content: ImportContent) -> ImportContent {
        var result = content
        for index in result.accounts.indices {
            result.accounts[index].mechanisms = result.accounts[index].mechanisms.map { advanced($0) }
        }
        result.twins = result.twins.map { twin in
            ImportContent.Twin(
                account: twin.account, mechanism: advanced(twin.mechanism), entry: twin.entry, details: twin.details)
        }
        return result
    }

    private static func advanced(_ mechanism: ImportedMechanism) -> ImportedMechanism {
        guard case .oath(var settings) = mechanism.kind, case .counter(let used) = settings.factor, used < .max else {
            return mechanism
        }
        settings.factor = .counter(next: used + 1)
        var result = mechanism
        result.kind = .oath(settings)
        return result
    }
}
