import SignetCore

/// The XML file of KeePass and KeePassXC.
///
/// Codes are in strings of an entry: an `otpauth` URI in `otp`, the fields `TimeOtp-` and `HmacOtp-` of KeePass, or `TOTP Seed` and
/// `TOTP Settings` of the plug-in KeeTrayTOTP. The other entries are passwords, which are left out.
///
/// A KeePass database has the same XML; ``KDBXFile`` decrypts it.
enum KeePassXMLFile {
    private static let format = ImportFormat.keePassXML

    static func recognizes(head: String) -> Bool { head.contains("<KeePassFile") }

    static func read(_ bytes: [UInt8], policy: EndpointPolicy) throws(ImportError) -> ImportContent {
        try read(format.xml(bytes), as: format, policy: policy)
    }

    /// Reads a document.
    /// - Parameters:
    ///   - file: The root of the document, in which protected values are decrypted.
    ///   - format: The format of the file that has the document.
    ///   - policy: The rule for acceptable push endpoints.
    /// - Returns: The content.
    /// - Throws: ``ImportError``.
    static func read(
        _ file: XMLReader.Element, as format: ImportFormat, policy: EndpointPolicy
    ) throws(ImportError) -> ImportContent {
        guard file.name == "KeePassFile", let root = file["Root"] else { throw format.malformed("Root", "it is not there") }
        let bin = file["Meta"]?["RecycleBinUUID"]?.value
        var builder = ImportBuilder()
        var count = 0
        let icons = icons(file["Meta"]?["CustomIcons"])
        // The reader limits the depth, so the groups in groups are few.
        var groups = root.children("Group").reversed().map { (element: $0, parent: "") }
        while let (group, parent) = groups.popLast() {
            if let bin, group["UUID"]?.value == bin {
                for _ in 0..<entryCount(in: group) { builder.leaveOut("deleted entry") }
                continue
            }
            let name = group["Name"]?.value ?? ""
            let path = parent.isEmpty || name.isEmpty ? parent + name : "\(parent)/\(name)"
            for entry in group.children("Entry") {
                count += 1
                guard count <= ImportFormat.maxEntries else {
                    throw ImportError(.tooLarge, format, "Entry", "more than \(ImportFormat.maxEntries) entries")
                }
                var details = ImportedDetails()
                details.addGroup(path)
                if let id = entry["CustomIconUUID"]?.value { details.setIcon(icons[id]) }
                add(entry, number: count, details: details, to: &builder, policy: policy)
            }
            groups += group.children("Group").reversed().map { (element: $0, parent: path) }
        }
        return builder.content
    }

    /// Returns the pictures of a database in base64, by their ids.
    private static func icons(_ list: XMLReader.Element?) -> [String: String] {
        var icons: [String: String] = [:]
        for icon in list?.children("Icon") ?? [] {
            guard let id = icon["UUID"]?.value, let data = icon["Data"]?.value else { continue }
            icons[id] = data.filter { !$0.isWhitespace }
        }
        return icons
    }

    /// Returns the number of entries in a group and in all groups inside it.
    private static func entryCount(in group: XMLReader.Element) -> Int {
        var (count, groups) = (0, [group])
        while let group = groups.popLast() {
            count += group.children("Entry").count
            groups += group.children("Group")
        }
        return count
    }

    private static func add(
        _ entry: XMLReader.Element, number: Int, details: ImportedDetails, to builder: inout ImportBuilder,
        policy: EndpointPolicy
    ) {
        let pairs = entry.children("String").compactMap { string in string["Key"]?.value.map { ($0, string["Value"]) } }
        let values = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
        var fields = values.compactMapValues { $0?.value }
        // KeePass uses the bytes of a secret without an encoding as they are.
        for name in ["TimeOtp-Secret", "HmacOtp-Secret"] where fields[name] != nil { fields[name] = values[name]??.text }
        var details = details
        if values["Notes"]??.attributes["Protected"] != "True" { details.setNote(fields["Notes"]) }
        // A protected value is encrypted by a key that only the database has.
        guard !values.contains(where: { isForCodes($0.key) && $0.value?.attributes["Protected"] == "True" }) else {
            let name = fields["Title"] ?? "entry \(number)"
            return builder.skip(SkippedEntry(name, type: "unknown", .invalid, "secret is encrypted; export the XML file again"))
        }
        let uri = fields["otp"].flatMap { EnrollmentURI.starts(in: $0).first == $0.startIndex ? $0 : nil }
        let codes = codes(fields, number: number, hasURI: uri != nil)
        builder.leaveOut("password", uri == nil && codes.isEmpty)
        if let uri { URIList.add(uri, at: "entry \(number)", to: &builder, policy: policy, details: details) }
        for var code in codes {
            (code.issuer, code.account, code.details) = (fields["Title"], fields["UserName"], details)
            code.add(to: &builder)
        }
    }

    private static func isForCodes(_ name: String) -> Bool {
        name == "otp" || name == "TOTP Seed" || name.hasPrefix("TimeOtp-") || name.hasPrefix("HmacOtp-")
    }

    /// Returns the settings of the codes in the fields of an entry, apart from an enrollment URI.
    private static func codes(_ fields: [String: String], number: Int, hasURI: Bool) -> [ImportedCode] {
        var codes: [ImportedCode] = []
        for (prefix, type) in [("TimeOtp-", "totp"), ("HmacOtp-", "hotp")] {
            guard let secret = secret(fields, prefix) else { continue }
            let texts = [
                "digits": fields["\(prefix)Length"], "period": fields["\(prefix)Period"], "counter": fields["\(prefix)Counter"],
                "algorithm": fields["\(prefix)Algorithm"],
            ]
            var code = ImportedCode(number: number, secret: nil, parameters: .object(Dictionary(texts: texts)))
            (code.secret, code.type) = (secret, type)
            codes.append(code)
        }
        if let seed = fields["TOTP Seed"] { codes.append(keeTray(seed, settings: fields["TOTP Settings"], number: number)) }
        if fields["otp"] != nil, !hasURI {
            // The plug-in KeeOtp writes a text of its own, which is reported as an unknown type.
            var code = ImportedCode(number: number)
            (code.secret, code.type) = (.success([]), "unknown")
            codes.append(code)
        }
        return codes
    }

    /// Returns the code of KeeTrayTOTP, whose settings are the period and the number of digits, or `S` for Steam: `30;6`.
    private static func keeTray(_ seed: String, settings: String?, number: Int) -> ImportedCode {
        let parts = settings?.split(separator: ";", omittingEmptySubsequences: false).map(String.init) ?? []
        let isSteam = parts.count > 1 && parts[1] == "S"
        let texts = ["period": parts.first, "digits": isSteam ? "5" : parts.dropFirst().first]
        var code = ImportedCode(number: number, secret: .string(seed), parameters: .object(Dictionary(texts: texts)))
        code.type = isSteam ? "steam" : "totp"
        return code
    }

    /// Returns the secret, whose field names its encoding.
    private static func secret(_ fields: [String: String], _ prefix: String) -> Result<[UInt8], JSONMemberError>? {
        if let text = fields["\(prefix)Secret"] { return .success(Array(text.utf8)) }
        if let text = fields["\(prefix)Secret-Base32"] {
            return Result { () throws(InvalidEncoding) in try Base32.decode(text) }
                .mapError { JSONMemberError(name: "secret", $0) }
        }
        if let text = fields["\(prefix)Secret-Base64"] {
            return Result { () throws(InvalidEncoding) in try Base64.decode(text) }
                .mapError { JSONMemberError(name: "secret", $0) }
        }
        guard let text = fields["\(prefix)Secret-Hex"] else { return nil }
        return Hexadecimal.bytes(text).map { .success($0) } ?? .failure(JSONMemberError(name: "secret", "is not hexadecimal"))
    }
}
