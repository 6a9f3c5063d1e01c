import SignetCore

// The tokens that testers issue, and the signing keys of the server.
extension AdminModel {
    static let newToken = AdminModel(
        "NewToken", "A signed access token to issue without a login.",
        [
            .required("subject", .string, "The user, or any other name for the claim `sub`"),
            .optional("client", .string, "The ID of a client, for `client_id`; `\(TokenOrder.defaultClient)` when it is missing"),
            .optional("realm", .string), .optional("scopes", .list(.string)),
            .optional("audience", .list(.string), "The claim `aud`; the client when it is missing"),
            .optional("claims", .map(.any), "Further claims; they replace those of the server, also `iss` and `exp`"),
            .optional("seconds", .integer, "The lifetime; that of the client when it is missing"),
            .optional(
                "algorithm", .choice(JWSAlgorithm.allCases.map(\.rawValue)), "The algorithm; that of the client by default"),
        ])

    static let issuedToken = AdminModel(
        "IssuedToken", "An access token, with the members of a token response.",
        [
            .required("access_token", .string), .required("token_type", .string), .required("expires_in", .integer),
            .required("scope", .string), .required("grant", .string, "The grant, for requests about the token"),
        ])

    static let signingKey = AdminModel(
        "SigningKey", "A key of the server's key set.",
        [
            .required("kid", .string), .required("alg", .choice(JWSAlgorithm.allCases.map(\.rawValue))),
            .required("signing", .bool, "True for a key that signs, false for one that another key has replaced"),
            .optional("retiredAt", .time, "When another key replaced it"),
            .optional("acceptedUntil", .time, "When a replaced key is no longer published and accepted"),
        ])
}
