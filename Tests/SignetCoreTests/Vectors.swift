import Foundation
import SignetCore
import Testing

/// The shared vectors and the sample data they are made of.
enum Vectors {
    /// Returns the content of `Vectors/<name>.json`.
    static func load(_ name: String) throws -> JSONValue {
        let file = try #require(Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Vectors"))
        return try JSONDecoder().decode(JSONValue.self, from: Data(contentsOf: file))
    }

    /// Returns the rows of the array called `list` in `Vectors/<name>.json`.
    ///
    /// It fails on an empty one, which would test nothing.
    static func rows(_ name: String, _ list: String) throws -> [Row] {
        let rows = try #require(try load(name)[list]?.array).map { Row(members: try #require($0.object)) }
        try #require(!rows.isEmpty)
        return rows
    }

    /// A row of a table of vectors.
    struct Row: Sendable, CustomTestStringConvertible {
        let members: [String: JSONValue]

        func text(_ name: String) throws -> String { try #require(members[name]?.string, "the row has no text \(name)") }
        func number(_ name: String) throws -> Int64 {
            try #require(members[name]?.lenientInteger, "the row has no integer \(name)")
        }

        var testDescription: String {
            members["name"]?.string ?? members.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        }
    }
}

/// The samples of protocol/authenticator.md section 0.
enum Sample {
    static let oathSecretText = "KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD"
    static let pushSecretText = "wh4BisPebv-FgKLqSuSZH_CS4ZuWe9A0P-pYsvNcd8U"
    static let challengeText = "G2tcJpKPq_TRfT9Ga8Tl3Bf-chv9McNIF8xTwrf5yUU"
    static let mechanismUID = "6D0E0C1B-52A4-4E3C-9C1B-6B6F1E9F7A10"
    static let newYear2025 = Date(timeIntervalSince1970: 1_735_689_600)

    static func period(_ seconds: Int) throws -> OTPPeriod {
        try #require(OTPPeriod(seconds: seconds))
    }

    static var oathSecret: Secret {
        get throws { Secret(try Base32.decode(oathSecretText)) }
    }

    static var pushSecret: Secret {
        get throws { Secret(try Base64.decode(pushSecretText)) }
    }

    /// Returns a `pushauth` URI with every required parameter; `changes` replaces parameters, or with nil removes them.
    static func pushURI(changing changes: [String: String?] = [:]) -> String {
        var parameters: [String: String] = [
            "s": pushSecretText, "c": challengeText, "m": "REGISTER:1",
            "r": base64URL("https://am.example.test/push?_action=register"),
            "a": base64URL("https://am.example.test/push?_action=authenticate"),
        ]
        for (name, value) in changes { parameters[name] = value }
        let query = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        return "pushauth://push/Harbor:mira?\(query)"
    }

    /// Returns a text encoded as servers put it into URIs, without the code under test.
    static func base64URL(_ text: String) -> String {
        Data(text.utf8).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
