import SignetCore

/// An action that a server requests from the push gateway, read from the form of the Query API.
package struct PushGatewayAction: Sendable, Hashable {
    enum Name: String, Sendable, CaseIterable {
        case createEndpoint = "CreatePlatformEndpoint"
        case setAttributes = "SetEndpointAttributes"
        case getAttributes = "GetEndpointAttributes"
        case deleteEndpoint = "DeleteEndpoint"
        case publish = "Publish"
    }

    let name: Name
    private let form: [String: String]

    /// Reads an action from the body of a request.
    /// - Throws: ``SNSError`` when the body is not a form with the name of an action.
    package init(_ body: [UInt8]) throws(SNSError) {
        guard let text = String(validating: body, as: UTF8.self), let form = try? FormCoding.decodeOnce(text) else {
            throw .malformed
        }
        guard let action = form["Action"], !action.isEmpty else { throw .missing("action") }
        guard let name = Name(rawValue: action) else { throw .invalidAction(action) }
        self.name = name
        self.form = form
    }

    /// A parameter; nil when it is missing or empty.
    subscript(name: String) -> String? { form[name].flatMap { $0.isEmpty ? nil : $0 } }

    func required(_ name: String) throws(SNSError) -> String {
        guard let value = self[name] else {
            throw .missing(name.prefix(1).lowercased() + name.dropFirst())
        }
        return value
    }

    /// Returns the platform application or the endpoint whose ARN is in the parameter `name`.
    func resource(_ name: String, _ kind: SNSResource.Kind) throws(SNSError) -> (arn: String, SNSResource) {
        let arn = try required(name)
        guard let resource = SNSResource(arn), resource.kind == kind else {
            throw .invalidParameter(
                name,
                kind == .application
                    ? "an ARN of a platform application of APNS, APNS_SANDBOX or GCM belongs here"
                    : "an ARN of an endpoint belongs here")
        }
        return (arn, resource)
    }

    /// Reads the attributes from the fields `Attributes.entry.N.key` and `Attributes.entry.N.value`.
    package func attributes() throws(SNSError) -> EndpointAttributes {
        var attributes = EndpointAttributes()
        for number in 1...Self.maxAttributes {
            guard let key = self["Attributes.entry.\(number).key"] else { break }
            let value = form["Attributes.entry.\(number).value"] ?? ""
            switch key {
            case "Enabled":
                guard let isEnabled = ["true": true, "false": false][value.lowercased()] else {
                    throw .invalidParameter("Attributes", "Enabled must be true or false")
                }
                attributes.isEnabled = isEnabled
            case "Token": attributes.token = try Self.token(value)
            case "CustomUserData":
                guard value.utf8.count <= 2048 else {
                    throw .invalidParameter("Attributes", "CustomUserData is longer than 2048 bytes")
                }
                attributes.userData = value
            default: throw .invalidParameter("Attributes", "there is no attribute \(key.shortened)")
            }
        }
        return attributes
    }

    /// Checks that a token is the address of an inbox, and returns it.
    ///
    /// The gateway cannot reach phones. It therefore rejects a phone's token immediately, because messages for it could never be
    /// delivered.
    static func token(_ token: String) throws(SNSError) -> String {
        guard PushInbox.isAddress(token) else {
            throw .invalidParameter(
                "Token", "this gateway reaches inboxes of desktop authenticators only: `signet enroll --push-gateway` creates one"
            )
        }
        return token
    }

    private static let maxAttributes = 16
}
