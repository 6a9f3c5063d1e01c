/// The requirements of a service for the access tokens that it accepts (RFC 9068 section 4, RFC 7662 section 2.2).
public struct AccessTokenPolicy: Sendable, Hashable {
    /// The audiences (`aud`) of the service, of which a token must name one.
    ///
    /// A JWT without an audience is refused. An introspection response without one is accepted, because the provider answers only for
    /// tokens that this service may use (RFC 7662 section 4).
    public var audiences: [String]
    /// The signature algorithms that a JWT may have.
    ///
    /// `none` and algorithms with a shared key are refused even if they are listed.
    public var algorithms: Set<String>
    /// The types (`typ`) that the header of a JWT may have, without the prefix `application/` and in lower case.
    ///
    /// The default is `at+jwt`. AM and some other providers write `JWT`. A JWT that is an ID token or a logout token by its claims is
    /// refused in any case.
    public var types: Set<String>
    /// The accepted difference between the clocks of the provider and the service.
    public var clockSkew: Duration

    /// Creates requirements.
    /// - Parameters:
    ///   - audiences: The audiences of the service.
    ///   - algorithms: The signature algorithms that a JWT may have.
    ///   - types: The types that the header of a JWT may have, in lower case.
    ///   - clockSkew: The accepted difference between the clocks.
    public init(
        audiences: [String], algorithms: Set<String> = ["RS256", "PS256", "ES256", "EdDSA"], types: Set<String> = ["at+jwt"],
        clockSkew: Duration = .seconds(60)
    ) {
        self.audiences = audiences
        self.algorithms = algorithms
        self.types = types
        self.clockSkew = clockSkew
    }
}
