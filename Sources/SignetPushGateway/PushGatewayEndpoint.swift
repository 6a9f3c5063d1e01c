import SignetCore

/// An endpoint of the gateway.
///
/// Other servers use its ARN to address an inbox.
package struct PushGatewayEndpoint: Sendable, Hashable, Codable {
    /// The ARN that the gateway gave to the endpoint.
    package let arn: String
    /// The ARN of the platform application.
    package let application: String
    /// The address of the inbox.
    package private(set) var token: String
    /// False when a sender has disabled the endpoint; it then receives no messages.
    package private(set) var isEnabled: Bool
    private var userData: String

    /// Creates an endpoint.
    /// - Parameters:
    ///   - application: The platform application.
    ///   - arn: The ARN of the application.
    ///   - token: The address of the inbox.
    ///   - attributes: The attributes in the request. Without them, the endpoint is enabled and has no user data.
    package init(of application: SNSResource, arn: String, token: String, _ attributes: EndpointAttributes) {
        self.arn = application.endpoint(RandomID.uuid().lowercased())
        (self.application, self.token) = (arn, token)
        (isEnabled, userData) = (attributes.isEnabled ?? true, attributes.userData ?? "")
    }

    /// Returns true when a request that creates an endpoint with these attributes asks for this endpoint.
    package func matches(_ attributes: EndpointAttributes) -> Bool {
        isEnabled == attributes.isEnabled ?? true && userData == attributes.userData ?? ""
            && token == attributes.token ?? token
    }

    /// Changes the attributes that a request contains.
    package mutating func set(_ attributes: EndpointAttributes) {
        isEnabled = attributes.isEnabled ?? isEnabled
        userData = attributes.userData ?? userData
        token = attributes.token ?? token
    }

    /// The attributes in the form of the answer to `GetEndpointAttributes`.
    var attributes: [String: String] {
        var attributes = ["Enabled": String(isEnabled), "Token": token]
        if !userData.isEmpty { attributes["CustomUserData"] = userData }
        return attributes
    }
}

/// The attributes of an endpoint that a request contains; an attribute that is absent is nil.
package struct EndpointAttributes: Sendable, Hashable {
    /// The value of `Enabled`.
    package internal(set) var isEnabled: Bool?
    /// The value of `Token`: the address of an inbox.
    package internal(set) var token: String?
    /// The value of `CustomUserData`.
    package internal(set) var userData: String?

    /// Creates an empty set of attributes.
    package init() {}
}
