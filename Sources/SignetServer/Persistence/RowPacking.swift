import SignetCore

/// The compact form of a row's JSON, which version 2 of the row format seals (``RowCoder/Version``).
///
/// Compact JSON has no bytes below 0x20, so these bytes stand for what rows often contain:
///
/// | byte | meaning |
/// | --- | --- |
/// | 0 | only as the first byte: the JSON follows as it is |
/// | 1 | a string of 43 characters of base64url: its 32 bytes follow |
/// | 2 | a number with a fraction: the 8 bytes of a `Double` follow, the highest first |
/// | 3 | a number without one: the 8 bytes of an `Int64` follow, the highest first |
/// | 4 | one of the other ``phrases``: its number less ``shortCount`` follows |
/// | 5 to 31 | one of the first ``phrases`` |
///
/// All other bytes stand for themselves. Unpacking gives exactly the bytes that were packed.
enum RowPacking {
    private enum Code {
        static let plain: UInt8 = 0
        static let hash: UInt8 = 1
        static let double: UInt8 = 2
        static let integer: UInt8 = 3
        static let phrase: UInt8 = 4
        static let firstPhrase: UInt8 = 5
    }

    /// The number of phrases that have a byte of their own.
    private static let shortCount = 27
    /// The bytes of a SHA-256, and the characters of its base64url.
    private static let (hashLength, hashTextLength) = (32, 43)
    /// The characters from which on a number is shorter as 9 bytes.
    private static let minNumberLength = 10

    /// The parts of JSON that have a number.
    ///
    /// The list is part of the format: phrases may be added at its end, and never be changed. A phrase has at least three bytes, and
    /// begins and ends outside of a string.
    private static let phrases: [[UInt8]] =
        [
            #","realm":{"names":[]}}"#, #"{"text":"#, #"{"authenticatedAt":"#, #","user":{"name":"#, #","client":{"id":"#,
            #","end":"#,
            #","generation":"#, #","idleTime":"#, #","lastAccess":"#, #","login":"#, #","properties":{}"#, #","startedAt":"#,
            #","trees":["Login"]"#, #","trees":["#, #","session":"#, #","scopes":["#, #","id":"#, #","nonce":"#,
            #","first":{"access":"#, #","accessEnd":"#, #","code":"#, #","issuedAt":"#, #","refresh":"#, #","refreshEnd":"#,
            #""openid""#, #""profile""#, #","journey":"#,
            // From here on with two bytes.
            #","expiresAt":"#, #","grantID":"#, #","claims":"#, #","browser":"#, #","state":"#, #","query":"#, #","page":"#,
            #","challenge":"#, #","redirectURI":"#, #","grant":"#, #","type":"#, #","input":[{"name":"#, #","output":[{"name":"#,
            #""prompt""#, #","value":"#, #","attributes":{}"#, #","failures":[]"#, #","securityAnswers":{}"#, #","memory":"#,
            #","oneTimeKey":"#, #","passesThrough":false"#, #","noSession":false"#, #","place":{"nodeID":"#, #","tree":"#,
            #","username":"#, #","userAgent":"#, #","indexType":"service""#, #","outer":[]"#, #","realm":{"names":[]}"#,
            #"{"accepted":"#, #","proof":"#, #","destination":{"#, #","location":"#, #","formTargets":["#, #""NameCallback""#,
            #""PasswordCallback""#,
        ].map { Array($0.utf8) }

    /// The numbers of the phrases by their third byte, in which they differ most, the longest first.
    private static let byThird: [[Int]] = {
        var numbers = [[Int]](repeating: [], count: 256)
        for number in phrases.indices.sorted(by: { phrases[$0].count > phrases[$1].count }) {
            numbers[Int(phrases[number][2])].append(number)
        }
        return numbers
    }()

    /// True for the bytes with which a phrase begins.
    private static let firstBytes: [Bool] = {
        var bytes = [Bool](repeating: false, count: 256)
        for phrase in phrases { bytes[Int(phrase[0])] = true }
        return bytes
    }()

    /// Packs compact JSON.
    static func pack(_ json: [UInt8]) -> [UInt8] { json.withUnsafeBufferPointer { pack($0) } }

    private static func pack(_ json: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        guard !json.contains(where: { $0 < 0x20 }) else { return [Code.plain] + json }
        let canBegin = Self.firstBytes
        var packed: [UInt8] = []
        packed.reserveCapacity(json.count)
        var index = 0
        while index < json.count {
            let byte = json[index]
            if canBegin[Int(byte)], let number = phrase(in: json, at: index) {
                append(phrase: number, to: &packed)
                index += phrases[number].count
            } else if byte == UInt8(ascii: "\"") {
                let end = endOfString(in: json, at: index)
                let text = UnsafeBufferPointer(rebasing: json[index..<end])
                if !append(hash: text, to: &packed) { packed.append(contentsOf: text) }
                index = end
            } else if byte == UInt8(ascii: "-") || isDigit(byte) {
                let end = json[index...].firstIndex { !isNumeric($0) } ?? json.count
                append(number: UnsafeBufferPointer(rebasing: json[index..<end]), to: &packed)
                index = end
            } else {
                packed.append(byte)
                index += 1
            }
        }
        return packed
    }

    /// Returns the JSON that was packed; nil for bytes that ``pack(_:)`` did not make.
    static func unpack(_ packed: [UInt8]) -> [UInt8]? {
        if packed.first == Code.plain { return Array(packed.dropFirst()) }
        var json: [UInt8] = []
        json.reserveCapacity(packed.count * 2)
        var rest = packed[...]
        while let byte = rest.popFirst() {
            guard byte < 0x20 else {
                json.append(byte)
                continue
            }
            guard let bytes = expand(byte, &rest) else { return nil }
            json += bytes
        }
        return json
    }

    private static func expand(_ code: UInt8, _ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        switch code {
        case Code.plain: return nil
        case Code.hash:
            guard let bytes = take(hashLength, from: &rest) else { return nil }
            return Array("\"\(Base64.encode(bytes, as: .url))\"".utf8)
        case Code.double: return word(from: &rest).map { Array(text(of: Double(bitPattern: $0)).utf8) }
        case Code.integer: return word(from: &rest).map { Array(String(Int64(bitPattern: $0)).utf8) }
        case Code.phrase: return rest.popFirst().flatMap { phrase(shortCount + Int($0)) }
        default: return phrase(Int(code - Code.firstPhrase))
        }
    }

    // MARK: Phrases

    private static func phrase(_ number: Int) -> [UInt8]? { phrases.indices.contains(number) ? phrases[number] : nil }

    /// Returns the number of the longest phrase at an index; nil for none.
    private static func phrase(in json: UnsafeBufferPointer<UInt8>, at index: Int) -> Int? {
        guard index + 2 < json.count else { return nil }
        return byThird[Int(json[index + 2])].first { matches(phrases[$0], json, index) }
    }

    private static func matches(_ phrase: [UInt8], _ json: UnsafeBufferPointer<UInt8>, _ index: Int) -> Bool {
        guard index + phrase.count <= json.count else { return false }
        for offset in phrase.indices where json[index + offset] != phrase[offset] { return false }
        return true
    }

    private static func append(phrase number: Int, to packed: inout [UInt8]) {
        if number < shortCount {
            packed.append(Code.firstPhrase + UInt8(number))
        } else {
            packed += [Code.phrase, UInt8(number - shortCount)]
        }
    }

    // MARK: Strings

    /// Returns the index after the string that begins at an index.
    private static func endOfString(in json: UnsafeBufferPointer<UInt8>, at start: Int) -> Int {
        var index = start + 1
        while index < json.count, json[index] != UInt8(ascii: "\"") {
            index += json[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index + 1, json.count)
    }

    /// Appends the bytes of a quoted base64url string of 43 characters; appends nothing, and returns false, for another text.
    private static func append(hash quoted: UnsafeBufferPointer<UInt8>, to packed: inout [UInt8]) -> Bool {
        guard quoted.count == hashTextLength + 2, quoted.last == UInt8(ascii: "\"") else { return false }
        let start = packed.count
        packed.append(Code.hash)
        var (buffer, bits) = (UInt32(0), 0)
        for character in quoted.dropFirst().dropLast() {
            let value = values[Int(character)]
            if value > 63 { break }
            buffer = buffer << 6 | UInt32(value)
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            packed.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
        }
        // 43 characters have two bits more than 32 bytes.
        if packed.count == start + 1 + hashLength, bits == 2, buffer & 3 == 0 { return true }
        packed.removeSubrange(start...)
        return false
    }

    /// The value of each character of base64url; 0xFF for other characters.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        for (value, character) in alphabet.utf8.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    // MARK: Numbers

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    private static func isNumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): true
        default: isDigit(byte)
        }
    }

    private static func append(number digits: UnsafeBufferPointer<UInt8>, to packed: inout [UInt8]) {
        guard digits.count >= minNumberLength else {
            packed += digits
            return
        }
        let written = String(decoding: digits, as: UTF8.self)
        if let integer = Int64(written), String(integer) == written {
            append(Code.integer, UInt64(bitPattern: integer), to: &packed)
        } else if let double = Double(written), text(of: double) == written {
            append(Code.double, double.bitPattern, to: &packed)
        } else {
            packed += digits
        }
    }

    /// Returns the shortest text that reads as the number, as in `JSONEncoder`.
    private static func text(of double: Double) -> String { "\(double)" }

    private static func append(_ code: UInt8, _ word: UInt64, to packed: inout [UInt8]) {
        packed.append(code)
        for shift in stride(from: 56, through: 0, by: -8) { packed.append(UInt8(truncatingIfNeeded: word >> UInt64(shift))) }
    }

    private static func word(from rest: inout ArraySlice<UInt8>) -> UInt64? {
        take(8, from: &rest)?.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func take(_ count: Int, from rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard rest.count >= count else { return nil }
        defer { rest.removeFirst(count) }
        return rest.prefix(count)
    }
}
