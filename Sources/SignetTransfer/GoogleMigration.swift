import SignetCore

/// The content of one QR code of Google Authenticator's export: `otpauth-migration://offline?data=` and a Protocol Buffers
/// message in base64.
///
/// An export of many accounts is a batch of several QR codes.
struct GoogleMigration {
    /// The id of the export.
    let batch: UInt64
    /// The number of QR codes in the export, and the index of this one, from 0.
    let count: Int
    let index: Int
    /// The bytes of the message.
    let payload: [UInt8]
    /// The entries, including those that will be skipped.
    let entries: [ImportedCode]

    private static let format = ImportFormat.google
    private static let newestVersion: UInt64 = 2
    /// The maximum number of QR codes in an export, which exceeds realistic exports.
    private static let maxCodes = 1_000

    func add(to builder: inout ImportBuilder) {
        for entry in entries { entry.add(to: &builder) }
    }

    static func read(_ uri: String, line: Int) throws(ImportError) -> GoogleMigration {
        let query = uri.drop { $0 != "?" }.dropFirst().prefix { $0 != "#" }
        let values = Set(query.split(separator: "&").filter { $0.hasPrefix("data=") }.map { $0.dropFirst("data=".count) })
        guard values.count < 2 else {
            throw format.malformed("line \(line)", "data: it is given twice, with different values")
        }
        guard let data = values.first, !data.isEmpty else {
            throw format.malformed("line \(line)", "data: missing")
        }
        // A `+` that was not percent-encoded is a `+` of base64.
        guard let text = data.percentDecoded(), let payload = try? Base64.decode(text) else {
            throw format.malformed("line \(line)", "data: not base64")
        }
        do {
            return try GoogleMigration(payload)
        } catch let error as ImportError {
            throw ImportError(error.code, format, "line \(line), \(error.part)", error.reason)
        } catch {
            throw format.malformed("line \(line)", "data: not an export of Google Authenticator, or cut off")
        }
    }

    private init(_ payload: [UInt8]) throws {
        var entries: [ImportedCode] = []
        var numbers: [UInt64: UInt64] = [:]
        try ProtobufFields.forEach(in: payload[...]) { number, value in
            switch (number, value) {
            case (1, .bytes(let entry)): entries.append(try Self.entry(entry, number: entries.count + 1))
            case (2...5, .integer(let value)): numbers[number] = value
            default: break
            }
        }
        guard numbers[2] ?? 1 <= Self.newestVersion else {
            throw ImportError(
                .newerVersion, Self.format, "version", "version \(numbers[2] ?? 0) is newer than \(Self.newestVersion)")
        }
        count = max(1, Int(clamping: numbers[3] ?? 1))
        index = Int(clamping: numbers[4] ?? 0)
        guard count <= Self.maxCodes, index < count else {
            throw Self.format.malformed("batch", "the number of the part or of the parts is out of range")
        }
        batch = numbers[5] ?? 0
        self.payload = payload
        self.entries = entries
    }

    private static func entry(_ bytes: ArraySlice<UInt8>, number: Int) throws -> ImportedCode {
        var code = ImportedCode(number: number)
        var numbers: [UInt64: UInt64] = [:]
        var texts: [UInt64: String] = [:]
        try ProtobufFields.forEach(in: bytes) { field, value in
            switch (field, value) {
            case (1, .bytes(let secret)): code.secret = .success(Array(secret))
            case (2...3, .bytes(let text)): texts[field] = String(decoding: text, as: UTF8.self)
            case (4...7, .integer(let value)): numbers[field] = value
            default: break
            }
        }
        (code.issuer, code.account) = names(label: texts[2] ?? "", issuer: texts[3] ?? "")
        // The value 0 means unspecified. The app uses the default of the field then.
        let algorithm = numbers[4] ?? 0
        code.algorithm = algorithm == 0 ? nil : [1: "SHA1", 2: "SHA256", 3: "SHA512", 4: "MD5"][algorithm] ?? "unknown"
        code.digits = [0: 6, 1: 6, 2: 8][numbers[5] ?? 0] ?? 0
        code.type = [0: "totp", 1: "hotp", 2: "totp"][numbers[6] ?? 0] ?? "unknown"
        code.counter = Int64(bitPattern: numbers[7] ?? 0)
        return code
    }

    /// Splits a label.
    ///
    /// It may begin with the issuer, as the label of an `otpauth` URI. The issuer may contain a colon itself.
    private static func names(label: String, issuer: String) -> (issuer: String, account: String) {
        if !issuer.isEmpty, label.hasPrefix("\(issuer):") { return (issuer, String(label.dropFirst(issuer.count + 1))) }
        guard let colon = label.firstIndex(of: ":") else { return (issuer, label) }
        let before = String(label[..<colon]).trimmingWhitespace()
        guard issuer.isEmpty || before == issuer.trimmingWhitespace() else { return (issuer, label) }
        return (before, String(label[label.index(after: colon)...]))
    }
}

/// The QR codes of exports that were given, from which the missing ones are determined.
struct MigrationBatches {
    private var given: [UInt64: (count: Int, indices: Set<Int>)] = [:]
    private var payloads: Set<[UInt8]> = []

    /// Records a QR code.
    ///
    /// Returns false when a code with the same payload was given before. The payload decides, because not every program that
    /// writes such codes numbers them.
    mutating func isNew(_ part: GoogleMigration) -> Bool {
        var known = given[part.batch] ?? (part.count, [])
        known.count = max(known.count, part.count)
        known.indices.insert(part.index)
        given[part.batch] = known
        return payloads.insert(part.payload).inserted
    }

    /// The maximum number of missing QR codes that are reported one by one.
    ///
    /// Real exports are smaller; above it, each export gets one entry.
    private static let maxNames = 1_000

    func addMissing(to builder: inout ImportBuilder) {
        let missing = given.values.reduce(0) { $0 + $1.count - $1.indices.count }
        for (_, known) in given.sorted(by: { $0.key < $1.key }) {
            guard missing <= Self.maxNames else {
                let count = known.count - known.indices.count
                if count > 0 {
                    builder.skip(
                        SkippedEntry(
                            "\(count) of \(known.count) QR codes", type: "unknown", .missingPart,
                            "these parts of the export were not given; give all its codes at once"))
                }
                continue
            }
            for index in 0..<known.count where !known.indices.contains(index) {
                builder.skip(
                    SkippedEntry(
                        "QR code \(index + 1) of \(known.count)", type: "unknown", .missingPart,
                        "this part of the export was not given; give all its codes at once, or this one later"))
            }
        }
    }
}

/// A reader of the Protocol Buffers wire format for integers and byte strings.
///
/// Fields of other types are skipped.
enum ProtobufFields {
    enum Value {
        case integer(UInt64)
        case bytes(ArraySlice<UInt8>)
    }

    struct Malformed: Error {}

    static func forEach(in bytes: ArraySlice<UInt8>, _ body: (_ number: UInt64, Value) throws -> Void) throws {
        var rest = bytes
        while !rest.isEmpty {
            let tag = try integer(&rest)
            switch tag & 7 {
            case 0: try body(tag >> 3, .integer(integer(&rest)))
            case 1: try skip(8, &rest)
            case 2:
                let length = try integer(&rest)
                guard length <= UInt64(rest.count) else { throw Malformed() }
                try body(tag >> 3, .bytes(rest.prefix(Int(length))))
                rest = rest.dropFirst(Int(length))
            case 5: try skip(4, &rest)
            default: throw Malformed()
            }
        }
    }

    private static func skip(_ count: Int, _ rest: inout ArraySlice<UInt8>) throws {
        guard rest.count >= count else { throw Malformed() }
        rest = rest.dropFirst(count)
    }

    /// Reads a varint: seven bits a byte, lowest bits first, at most ten bytes.
    private static func integer(_ rest: inout ArraySlice<UInt8>) throws -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 70, by: 7) {
            guard let byte = rest.popFirst(), shift < 63 || byte <= 1 else { throw Malformed() }
            value |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte & 0x80 == 0 { return value }
        }
        throw Malformed()
    }
}
