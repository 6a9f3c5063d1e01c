import SignetCore

// The logins, clients and journeys of the administration API.
extension AdminModel {
    private static let loginMembers: [AdminMember] = [
        .required("number", .integer), .required("journey", .string), .required("realm", .string),
        .required("state", .choice(LoginFilter.states)), .required("startedAt", .time),
        .required("lastAt", .time, "The time of the last request"),
        .required("milliseconds", .number, "The time that all nodes needed"), .required("client", .model(clientMatch)),
        .optional("user", .string), .optional("reason", .string, "The reason for the result"),
        .optional("node", .model(visitedNode), "The last node"),
    ]

    static let login = AdminModel("Login", "A login.", loginMembers)

    static let loginDetails = AdminModel(
        "LoginDetails", "A login with the nodes that its journey visited.",
        loginMembers + [
            .required("visits", .list(.model(visit))), .required("omitted", .integer, "The number of visits that are left out"),
        ])

    private static let visitedNode = AdminModel(
        "VisitedNode", "The node of a journey at which a login is.",
        [.required("journey", .string), .required("id", .string), .required("type", .string)])

    private static let visit = AdminModel(
        "Visit", "A visit of a node.",
        [
            .required("journey", .string), .required("id", .string), .required("type", .string), .required("at", .time),
            .required("milliseconds", .number), .optional("outcome", .string), .optional("reason", .string),
            .optional("asked", .list(.string), "The types of the callbacks that the node sent"),
            .optional("kept", .list(.string), "The names of the values that the node added to the state"),
            .optional("count", .integer, "The number of visits of a client that polls"),
        ])

    static let client = AdminModel(
        "Client", "An OAuth 2.0 client, without its secret.",
        [
            .required("id", .string), .required("realm", .string), .required("public", .bool, "True without a secret"),
            .required("redirectURIs", .list(.string)), .required("postLogoutRedirectURIs", .list(.string)),
            .required("scopes", .list(.string)), .required("grantTypes", .list(.string)),
            .required("accessTokens", .choice(RegisteredClient.AccessTokenFormat.allCases.map(\.rawValue))),
            .required("audiences", .list(.string), "The resources that tokens of the client can be for"),
        ])

    static let journey = AdminModel(
        "Journey", "A journey.",
        [
            .required("name", .string), .required("entry", .string, "The first node"),
            .required("innerTreeOnly", .bool, "True when clients cannot start it"),
            .required("nodes", .list(.model(node))), .optional("realms", .list(.string), "The realms; all when it is missing"),
        ])

    private static let node = AdminModel(
        "Node", "A node of a journey.",
        [
            .required("id", .string), .required("type", .string),
            .required("outcomes", .map(.string), "The next node, `success` or `failure`, by outcome"),
        ])
}
