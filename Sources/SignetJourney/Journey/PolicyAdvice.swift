public import SignetCore
public import SignetNetwork

/// What a policy asks for before it lets somebody at a resource: a transaction to confirm, a journey to walk
/// (protocol/journey.md sections 1.4 and 5.7).
///
///     let response = try await transport.send(request)
///     if let advice = PolicyAdvice(response) {
///         let state = try await journeys.start(.advice(advice), options: options)
///         // walk it, then repeat the request once, to advice.address(confirming: request.url)
///     }
public struct PolicyAdvice: Sendable, Hashable {
    /// One thing that is asked for.
    public struct Attribute: Sendable, Hashable {
        /// What kind, for example `TransactionConditionAdvice`.
        public let name: String
        /// Which, for example a transaction's id, or `/alpha:StepUp`.
        public let values: [String]

        /// A thing as given.
        public init(name: String, values: [String]) {
            self.name = name
            self.values = values
        }
    }

    /// Everything that is asked for; not empty.
    public let attributes: [Attribute]

    /// A transaction must be confirmed.
    public static let transaction = "TransactionConditionAdvice"
    /// A journey must be walked.
    public static let service = "AuthenticateToServiceConditionAdvice"

    /// One thing that is asked for.
    public init(_ name: String, _ value: String) {
        attributes = [Attribute(name: name, values: [value])]
    }

    private init?(_ attributes: [Attribute]) {
        let attributes = attributes.filter { !$0.name.isEmpty && !$0.values.isEmpty }
        guard !attributes.isEmpty else { return nil }
        self.attributes = attributes
    }

    /// The transaction that is to be confirmed, if it is one.
    public var transactionID: String? { attributes.first { $0.name == Self.transaction }?.values.first }

    /// The address to repeat a request at once the journey is walked: with the transaction's id as `_txid` behind the parameters
    /// that are there; as it is for advice of any other kind.
    public func address(confirming address: String) -> String {
        transactionID.map { FormCoding.address(address, adding: [("_txid", $0)]) } ?? address
    }

    // MARK: What it looks like

    /// As the authenticate endpoint takes it.
    public var xml: String {
        let pairs = attributes.map { attribute in
            let values = attribute.values.map { "<Value>\(Self.escaped($0))</Value>" }.joined()
            return "<AttributeValuePair><Attribute name=\"\(Self.escaped(attribute.name))\"/>\(values)</AttributeValuePair>"
        }
        return "<Advices>\(pairs.joined())</Advices>"
    }

    /// The advice in a response that refuses a request: in the address it redirects to, in its challenge, or in its body. Nil when
    /// it has none.
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

    /// The advice in the address of a log-in page: `authIndexType=composite_advice`, with the advice as XML, plain or in base64url.
    public init?(redirect address: String) {
        let parameters = FormCoding.query(of: address)
        guard parameters["authIndexType"] == "composite_advice", let value = parameters["authIndexValue"] else { return nil }
        let text = value.contains("<") ? value : (try? Base64.decode(value)).map { String(decoding: $0, as: UTF8.self) }
        guard let advice = text.flatMap({ PolicyAdvice(xml: $0) }) else { return nil }
        self = advice
    }

    /// The advice in a `WWW-Authenticate` field: `SSOADVICE realm="/",advices="<base64 of JSON>"`.
    public init?(challenge: String) {
        guard challenge.trimmingWhitespace().lowercased().hasPrefix("ssoadvice"),
            let start = challenge.firstRange(of: "advices=\"")?.upperBound,
            let bytes = try? Base64.decode(challenge[start...].prefix { $0 != "\"" }),
            let json = try? JSON.value(of: bytes), let advice = PolicyAdvice(advices: json)
        else { return nil }
        self = advice
    }

    /// The advice in the answer of a policy evaluation: an object with `advices`, or an array of such objects, of which the first
    /// that has any counts.
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

    /// Reads what ``xml`` writes, with white space and attributes as another server may write them. It is no reader of XML at
    /// large: what it does not know is no advice.
    public init?(xml: String) {
        var attributes: [Attribute] = []
        for pair in xml.pieces(between: "<AttributeValuePair>", "</AttributeValuePair>") {
            let name = pair.pieces(between: "<Attribute", ">").first?.pieces(between: "name=\"", "\"").first
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
        text.trimmingWhitespace().replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
            .replacing("&apos;", with: "'").replacing("&amp;", with: "&")
    }
}

extension StringProtocol where SubSequence == Substring {
    /// What stands between two marks, each time they occur.
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
