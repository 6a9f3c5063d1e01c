import HTTPTypes
import SignetCore

/// A requirement that a policy returned when it denied access: XML in `authIndexValue` (protocol/journey.md section 1.4).
enum PolicyAdvice: Sendable, Hashable {
    /// Complete a journey, in a realm if the advice names one.
    case service(String, RealmPath?)
    /// Confirm a transaction. Only the policy knows which transaction it is. Each confirmation needs a new run of the journey.
    case transaction

    /// Parses `<Advices><AttributeValuePair><Attribute name="TYPE"/><Value>VALUE</Value></AttributeValuePair></Advices>`, with
    /// optional whitespace between the tags.
    /// - Throws: ``APIError`` when the text is malformed or the server does not support the advice.
    init(_ text: String) throws(APIError) {
        let malformed = APIError(.badRequest, "The policy advice is malformed.")
        var rest = Substring(text)
        for tag in ["<Advices>", "<AttributeValuePair>"] { guard rest.take(tag) else { throw malformed } }
        guard rest.take("<Attribute name=\"") else { throw malformed }
        let type = rest.takeText(until: "\"")
        guard rest.take("\""), rest.take("/>"), rest.take("<Value>") else { throw malformed }
        let value = rest.takeText(until: "<")
        for tag in ["</Value>", "</AttributeValuePair>", "</Advices>"] { guard rest.take(tag) else { throw malformed } }
        guard rest.allSatisfy(\.isWhitespace), !value.isEmpty else { throw malformed }
        switch type {
        case "AuthenticateToServiceConditionAdvice":
            // The value is `/alpha:Tree`, `/:Tree` or a name alone.
            let parts = value.split(separator: ":", maxSplits: 1)
            guard let name = parts.last else { throw malformed }
            self = .service(String(name), parts.count == 2 ? RealmPath(parts[0]) : nil)
        case "TransactionConditionAdvice": self = .transaction
        default: throw APIError(.badRequest, "This server cannot follow the policy advice \(type).")
        }
    }
}

extension Substring {
    /// Removes a tag and the whitespace before it from the start, and returns true.
    ///
    /// If another text follows, it returns false.
    fileprivate mutating func take(_ tag: String) -> Bool {
        let start = drop(while: \.isWhitespace)
        guard start.hasPrefix(tag) else { return false }
        self = start.dropFirst(tag.count)
        return true
    }

    /// Removes the text before a character from the start and returns it, with its character references resolved.
    fileprivate mutating func takeText(until mark: Character) -> String {
        let text = prefix { $0 != mark }
        self = self[text.endIndex...]
        return CharacterReferences.decode(String(text.trimming(" \t\r\n")))
    }
}
