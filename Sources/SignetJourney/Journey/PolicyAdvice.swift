public import SignetCore
public import SignetNetwork

/// The advice of a policy: the additional authentication that it requires before it allows access to a resource, which is a
/// transaction to confirm or a journey to complete (protocol/journey.md sections 1.4 and 5.7).
///
///     let response = try await transport.send(request)
///     if let advice = PolicyAdvice(response) {
///         let state = try await journeys.start(.advice(advice), options: options)
///         // complete the journey, then repeat the request once, to advice.address(confirming: request.url)
///     }
public struct PolicyAdvice: Sendable, Hashable {
    /// One requirement of the advice.
    public struct Attribute: Sendable, Hashable {
        /// The kind of requirement, for example `TransactionConditionAdvice`.
        public let name: String
        /// The values, for example the ID of a transaction, or `/alpha:StepUp`.
        public let values: [String]

        /// Creates a requirement.
        public init(name: String, values: [String]) {
            self.name = name
            self.values = values
        }
    }

    /// The requirements of the advice; not empty.
    public let attributes: [Attribute]

    /// The kind of requirement for a transaction that must be confirmed.
    public static let transaction = "TransactionConditionAdvice"
    /// The kind of requirement for a journey that must be completed.
    public static let service = "AuthenticateToServiceConditionAdvice"

    /// Creates advice with one requirement.
    public init(_ name: String, _ value: String) {
        attributes = [Attribute(name: name, values: [value])]
    }

    private init?(_ attributes: [Attribute]) {
        let attributes = attributes.filter { !$0.name.isEmpty && !$0.values.isEmpty }
        guard !attributes.isEmpty else { return nil }
        self.attributes = attributes
    }

    /// The ID of the transaction that must be confirmed; nil for other advice.
    public var transactionID: String? { attributes.first { $0.name == Self.transaction }?.values.first }

    /// Returns the address for repeating a request after the journey is completed.
    ///
    /// For a transaction, this adds its ID as `_txid` after the existing query parameters. For other advice, the address stays
    /// unchanged.
    public func address(confirming address: String) -> String {
        transactionID.map { FormCoding.address(address, adding: [("_txid", $0)]) } ?? address
    }

    // MARK: Formats

    /// The advice in the XML form that the authenticate endpoint accepts.
    public var xml: String {
        let pairs = attributes.map { attribute in
            let values = attribute.values.map { "<Value>\(Self.escaped($0))</Value>" }.joined()
            return "<AttributeValuePair><Attribute name=\"\(Self.escaped(attribute.name))\"/>\(values)</AttributeValuePair>"
        }
        return "<Advices>\(pairs.joined())</Advices>"
    }

    /// Reads the advice from a response that denies a request: from the address of its redirect, from its challenge, or from its
    /// body.
    ///
    /// Nil when the response contains no advice.
    public init?(_ response: HTTPResponse) {
        let challenge = response.headers.all("WWW-Authenticate").lazy.compactMap { PolicyAdvice(challenge: $0) }.first
        let found: PolicyAdvice? =
            switch response.status {
            case 301, 302, 303, 307, 308: response.headers["Location"].flatMap { PolicyAdvice(redirect: $0) }
            case 200..<300: nil
            default: challenge
            }
        let inBody = response.status < 400 ? nil : (try? JSON.value(of: response.body))
        guard let advice = found ?? inBody.flatMap({ PolicyAdvice(evaluation: $0) }) else { return nil }
        self = advice
    }

    /// Reads the advice from the address of a login page: `authIndexType=composite_advice`, with the advice as XML, plain or
    /// base64url-encoded.
    public init?(redirect address: String) {
        let parameters = FormCoding.query(of: address)
        guard parameters["authIndexType"] == "composite_advice", let value = parameters["authIndexValue"] else { return nil }
        let text = value.contains("<") ? value : (try? Base64.decode(value)).map { String(decoding: $0, as: UTF8.self) }
        guard let advice = text.flatMap({ PolicyAdvice(xml: $0) }) else { return nil }
        self = advice
    }

    /// Reads the advice from a `WWW-Authenticate` field: `SSOADVICE realm="/",advices="<base64 of JSON>"`.
    public init?(challenge: String) {
        guard challenge.trimmingWhitespace().lowercased().hasPrefix("ssoadvice"),
            let start = challenge.firstRange(of: "advices=\"")?.upperBound,
            let bytes = try? Base64.decode(challenge[start...].prefix { $0 != "\"" }),
            let json = try? JSON.value(of: bytes), let advice = PolicyAdvice(advices: json)
        else { return nil }
        self = advice
    }

    /// Reads the advice from the response of a policy evaluation: an object with `advices`, or the first such object of an array
    /// that contains advice.
    public init?(evaluation: JSONValue) {
        let results = evaluation.array ?? [evaluation]
        guard let advice = results.lazy.compactMap({ $0["advices"].flatMap { PolicyAdvice(advices: $0) } }).first else {
            return nil
        }
        self = advice
    }

    private init?(advices: JSONValue) {
        let members = (advices.object ?? [:]).sorted { $0.key < $1.key }
        self.init(
            members.map { name, value in
                Attribute(name: name, values: value.array?.compactMap(\.string) ?? value.string.map { [$0] } ?? [])
            })
    }

    /// Reads the format of ``xml``, including the white space and the XML attributes that other servers may add.
    ///
    /// This isn't a general XML parser. Nil when the text contains no advice in this format.
    public init?(xml: String) {
        var attributes: [Attribute] = []
        for pair in xml.pieces(between: "<AttributeValuePair>", "</AttributeValuePair>") {
            let element = pair.pieces(between: "<Attribute", ">").first { $0.first?.isWhitespace ?? false }
            let name = element?.pieces(between: "name=\"", "\"").first
            let values = pair.pieces(between: "<Value>", "</Value>").map { Self.unescaped($0) }
            attributes.append(Attribute(name: name.map { Self.unescaped($0) } ?? "", values: values))
        }
        self.init(attributes)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }

    private static func unescaped(_ text: Substring) -> String {
        CharacterReferences.decode(text.trimmingWhitespace())
    }
}

extension StringProtocol where SubSequence == Substring {
    /// Returns the texts between each pair of the two markers.
    fileprivate func pieces(between start: String, _ end: String) -> [Substring] {
        var pieces: [Substring] = []
        var rest = self[startIndex...]
        while let from = rest.firstRange(of: start), let to = rest[from.upperBound...].firstRange(of: end) {
            pieces.append(rest[from.upperBound..<to.lowerBound])
            rest = rest[to.upperBound...]
        }
        return pieces
    }
}
