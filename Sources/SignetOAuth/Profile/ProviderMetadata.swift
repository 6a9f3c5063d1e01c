package import SignetCore
package import SignetNetwork

/// The metadata that a provider publishes, with all its members and before any check (OpenID Connect Discovery 1.0 section 4, RFC
/// 8414 section 3).
package struct ProviderMetadata: Sendable, Hashable {
    /// The address of the document.
    package let address: String
    /// The members of the document.
    package let members: [String: JSONValue]

    /// Creates metadata from the members of a document.
    package init(address: String, members: [String: JSONValue]) {
        self.address = address
        self.members = members
    }

    /// True when the issuer in the document is the one to which its address belongs.
    package var namesOwnIssuer: Bool {
        guard let issuer = members["issuer"]?.string else { return false }
        return DiscoveryIssuer(configured: nil, documentAddress: address).allows(issuer)
    }

    /// Requests the metadata of an issuer: the OpenID discovery document, or else that of RFC 8414.
    /// - Parameters:
    ///   - issuer: The issuer, or the address of one of its documents.
    ///   - transport: The transport that sends the requests.
    ///   - policy: The policy that decides which addresses are allowed.
    ///   - clock: The clock for the time in `Retry-After`.
    /// - Returns: The metadata.
    /// - Throws: ``ProfileError`` for an address that isn't allowed, and for the first document when the issuer has neither of them;
    ///   `TransportError`.
    package static func requested(
        of issuer: String, over transport: any HTTPTransport, policy: EndpointPolicy, clock: any WallClock = SystemWallClock()
    ) async throws -> ProviderMetadata {
        let addresses = documents(of: try EndpointOverrides.checked(issuer, key: "issuer", policy: policy))
        var refusal: ProfileError?
        for address in addresses {
            do {
                let members = try await ProviderDescription.members(
                    at: address, RequestPipeline(transport), timeout: HTTPRequest.defaultTimeout, pins: [], clock: clock)
                return ProviderMetadata(address: address, members: members)
            } catch let error as ProfileError {
                refusal = refusal ?? error
            }
        }
        throw refusal ?? ProfileError("issuer", .missing)
    }

    /// Returns the addresses at which the metadata of an issuer may be.
    package static func documents(of issuer: String) -> [String] {
        if issuer.contains("/.well-known/") { return [issuer] }
        let bare = String(issuer.hasSuffix("/") ? issuer.dropLast() : issuer[...])
        let start = bare.firstRange(of: "://")?.upperBound ?? bare.startIndex
        let path = bare[start...].firstIndex(of: "/") ?? bare.endIndex
        return [
            bare + "/.well-known/openid-configuration",
            "\(bare[..<path])/.well-known/oauth-authorization-server\(bare[path...])",
        ]
    }
}
