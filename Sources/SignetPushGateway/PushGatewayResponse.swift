import SignetCore

/// A response of the push gateway: an XML document.
package struct PushGatewayResponse: Sendable, Hashable {
    /// The status of the HTTP response.
    package let status: Int
    /// The id of the request, for the header `x-amzn-RequestId`.
    ///
    /// The document contains it too.
    package let requestID: String
    /// The body, of the type `text/xml`.
    package let body: [UInt8]

    static let namespace = "http://sns.amazonaws.com/doc/2010-03-31/"

    /// Creates a response with a new request id.
    init(_ status: Int, _ document: (_ requestID: String) -> String) {
        self.status = status
        requestID = RandomID.uuid().lowercased()
        body = Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\(document(requestID))\n".utf8)
    }

    /// Builds the XML document that answers an action.
    /// - Parameters:
    ///   - action: The name of the action.
    ///   - result: The contents of the result element; nil for an action without a result.
    ///   - requestID: The id of the request.
    /// - Returns: The document, without an XML declaration.
    package static func document(_ action: String, _ result: String?, requestID: String) -> String {
        let inner = result.map { "<\(action)Result>\($0)</\(action)Result>" } ?? ""
        return "<\(action)Response xmlns=\"\(namespace)\">\(inner)<ResponseMetadata><RequestId>\(requestID)</RequestId>"
            + "</ResponseMetadata></\(action)Response>"
    }

    /// Returns an XML element that contains a text.
    package static func element(_ name: String, _ text: String) -> String { "<\(name)>\(text.escapedForXML)</\(name)>" }

    static func attributes(_ attributes: [String: String]) -> String {
        let entries = attributes.sorted { $0.key < $1.key }.map { entry in
            "<entry>\(element("key", entry.key))\(element("value", entry.value))</entry>"
        }
        return "<Attributes>\(entries.joined())</Attributes>"
    }
}

extension String {
    /// The text escaped for an XML document.
    ///
    /// Characters that XML does not allow are removed.
    var escapedForXML: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "\t", "\n", "\r": text += "&#\(scalar.value);"
            default:
                if scalar.value >= 0x20, scalar.value != 0xFFFE, scalar.value != 0xFFFF { text.unicodeScalars.append(scalar) }
            }
        }
        return text
    }
}
