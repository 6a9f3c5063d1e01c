import Foundation
import SignetTesting

/// A request before it is damaged.
struct ValidRequest: Sendable {
    /// The name of the route, as in `FaultRoute`, or `console`, `admin`.
    var route: String
    var method = "GET"
    /// The path and query.
    var target: String
    var headers: [String] = []
    var body = ""
    /// The body when it is not text.
    var bytes: [UInt8]?
    /// Makes headers for the body that is sent, for example a signature, so that the server parses a damaged body all the same.
    var seal: (@Sendable (_ body: [UInt8]) -> [String])?

    fileprivate var content: [UInt8] { bytes ?? Array(body.utf8) }
}

/// Makes malformed requests from valid ones.
struct RequestFuzzer {
    var random: SeededGenerator

    /// The part of a request that is damaged.
    private enum Damage: CaseIterable {
        case body, target, header, json, form, method, headers, head, length, cut
    }

    private static let unusualValues: [String] = [
        "\u{0}", "%00", "%zz", "%", "\"", "\\", "{", "}", "[", "]", "'", "<script>", "../", "..%2f", "&", "=", "?", "#", ";", ",",
        "\u{202E}",
        "%F0%9F%92%A9", "null", "NaN", "-1", "1e999", "18446744073709551616", "0x41", "true", " ", "\t", "*", "**", "/", "//",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "\u{FEFF}", "é", "\u{7F}",
    ]
    private static let methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "BREW", "get"]
    private static let values: [String] = [
        "null", "true", "-0", "1e400", "9223372036854775808", "\"\"", "\"\\u0000\"", "\"\\ud800\"", "[]", "{}", "[[[[[[]]]]]]",
        "\"x\"",
        "0.1", "{\"a\":1,\"a\":2}", "[1,\"2\",{\"type\":\"NameCallback\"}]",
    ]

    mutating func damaged(_ request: ValidRequest) -> [UInt8] {
        var request = request
        var suffix: [UInt8]?
        var length: String?
        var head: ((inout Self, [UInt8]) -> [UInt8])?
        var cut = false
        // Invalid HTTP gets no further than the parser, so most requests stay valid HTTP.
        let breaksHTTP = Int.random(in: 0..<6, using: &random) == 0
        let damages: [Damage] =
            breaksHTTP ? [.head, .length, .cut, .headers] : [.body, .target, .header, .json, .form, .method, .headers]
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            switch damages.randomElement(using: &random) ?? .body {
            case .body: suffix = bytes(suffix ?? request.content)
            case .target: request.target = Self.visible(text(request.target))
            case .header:
                guard let index = request.headers.indices.randomElement(using: &random) else { continue }
                request.headers[index] = text(request.headers[index]).filter { $0.isASCII && !$0.isNewline && $0 >= " " }
            case .json: request.body = json(request.body)
            case .form: request.body = form(request.body)
            case .method: request.method = Self.methods.randomElement(using: &random) ?? "GET"
            case .headers: headers(&request)
            case .head: head = { fuzzer, bytes in fuzzer.bytes(bytes) }
            case .length: length = ["-1", "0", "99999999999999999999", "5, 5", "x", "1", "262145"].randomElement(using: &random)
            case .cut: cut = true
            }
        }
        let body = suffix ?? request.content
        let lines =
            ["\(request.method) \(request.target) HTTP/1.1", "Host: 127.0.0.1"]
            + request.headers + (request.seal?(body) ?? []) + ["Content-Length: \(length ?? String(body.count))", "", ""]
        var gateway = Array(lines.joined(separator: "\r\n").utf8)
        if let head { gateway = head(&self, gateway) }
        let whole = gateway + body
        return cut ? Array(whole.prefix(Int.random(in: 0...whole.count, using: &random))) : whole
    }

    /// Escapes all characters that a request target cannot contain.
    private static func visible(_ text: String) -> String {
        text.utf8.map { (0x21...0x7E).contains($0) ? String(UnicodeScalar($0)) : "%" + String($0, radix: 16) }.joined()
    }

    private mutating func bytes(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let index = Int.random(in: 0...bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
            case 1 where index < bytes.count: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 2 where index < bytes.count:
                bytes.removeSubrange(index..<min(bytes.count, index + Int.random(in: 1...8, using: &random)))
            case 3: bytes.insert(contentsOf: Array((Self.unusualValues.randomElement(using: &random) ?? "").utf8), at: index)
            default: bytes += bytes.suffix(from: min(index, bytes.count))
            }
            bytes = Array(bytes.prefix(300_000))
        }
        return bytes
    }

    private mutating func text(_ text: String) -> String {
        var characters = Array(text)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let index = Int.random(in: 0...characters.count, using: &random)
            if Bool.random(using: &random), index < characters.count { characters.remove(at: index) }
            characters.insert(
                contentsOf: Array(Self.unusualValues.randomElement(using: &random) ?? ""), at: min(index, characters.count))
        }
        return String(characters)
    }

    /// Returns another value in place of one, or one that is very deep or very long.
    private mutating func json(_ text: String) -> String {
        let colons = text.indices.filter { text[$0] == ":" }
        guard let colon = colons.randomElement(using: &random) else { return Self.values.randomElement(using: &random) ?? "" }
        let start = text.index(after: colon)
        let end = text[start...].firstIndex { ",}]".contains($0) } ?? text.endIndex
        let value: String =
            switch Int.random(in: 0..<8, using: &random) {
            case 0: String(repeating: "[", count: 2000) + String(repeating: "]", count: 2000)
            case 1: "\"" + String(repeating: "x", count: Int.random(in: 1...20_000, using: &random)) + "\""
            default: Self.values.randomElement(using: &random) ?? "null"
            }
        return text[..<start] + value + text[end...]
    }

    /// Repeats, removes or adds a form field.
    private mutating func form(_ text: String) -> String {
        var fields = text.split(separator: "&").map(String.init)
        guard let index = fields.indices.randomElement(using: &random) else { return "=&&=%" }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: fields.append(fields[index])
        case 1: fields.remove(at: index)
        case 2: fields[index] = self.text(fields[index])
        default:
            fields[index] = fields[index].prefix { $0 != "=" } + "=" + (Self.unusualValues.randomElement(using: &random) ?? "")
        }
        return fields.joined(separator: "&")
    }

    private mutating func headers(_ request: inout ValidRequest) {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: if let index = request.headers.indices.randomElement(using: &random) { request.headers.remove(at: index) }
        case 1: request.headers += request.headers
        case 2:
            request.headers.append(
                "Content-Type: \(["text/html", "application/json; charset=utf-16", "", "a/b/c;;"].randomElement(using: &random) ?? "")"
            )
        case 3: request.headers.append("X-Long: " + String(repeating: "y", count: Int.random(in: 1...20_000, using: &random)))
        case 4: request.headers.append("Cookie: " + String(repeating: "iPlanetDirectoryPro=;=;", count: 50))
        default:
            request.headers.append(
                ["Transfer-Encoding: chunked", "Expect: 100-continue", "Authorization: Basic =", "Upgrade: h2c"].randomElement(
                    using: &random) ?? "")
        }
    }
}
