import HTTPTypes
import SignetCore

/// What a policy wants of somebody who was refused: XML in `authIndexValue` (protocol/journey.md section 1.4).
enum PolicyAdvice: Sendable, Hashable {
    /// To walk a journey, in a realm if one is named.
    case service(String, RealmPath?)
    /// To confirm a transaction. Which one is the policy's to know: each asks anew.
    case transaction

    /// Reads `<Advices><AttributeValuePair><Attribute name="TYPE"/><Value>VALUE</Value></AttributeValuePair></Advices>`, with or
    /// without white space between the tags.
    /// - Throws: ``APIError`` when the text is no advice, or one that this server cannot follow.
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
            // `/alpha:Tree`, `/:Tree` or the name alone.
            let parts = value.split(separator: ":", maxSplits: 1)
            guard let name = parts.last else { throw malformed }
            self = .service(String(name), parts.count == 2 ? RealmPath(parts[0]) : nil)
        case "TransactionConditionAdvice": self = .transaction
        default: throw APIError(.badRequest, "This server cannot follow the policy advice \(type).")
        }
    }
}

extension Substring {
    /// Takes a tag, and the white space before it, from the front.
    fileprivate mutating func take(_ tag: String) -> Bool {
        let start = drop(while: \.isWhitespace)
        guard start.hasPrefix(tag) else { return false }
        self = start.dropFirst(tag.count)
        return true
    }

    /// Takes what stands before a mark, with XML's five references resolved.
    fileprivate mutating func takeText(until mark: Character) -> String {
        let text = prefix { $0 != mark }
        self = self[text.endIndex...]
        return String(text.trimming(" \t\r\n")).replacing("&lt;", with: "<").replacing("&gt;", with: ">")
            .replacing("&quot;", with: "\"").replacing("&apos;", with: "'").replacing("&amp;", with: "&")
    }
}
