import HTTPTypes
import SignetCore

extension AdminEndpoint {
    /// Every endpoint of the administration API.
    static let all = server + testing + accounts + configuration + messages

    private static let realm = AdminMember.optional("realm", .string, "The realm; the top-level realm when it is missing")
    private static let anyRealm = AdminMember.optional("realm", .string, "Only those of this realm")

    private static let server = [
        AdminEndpoint(.get, "", "overview", .server, "Describe the server", answers: .model(.overview)),
        AdminEndpoint(.get, "openapi.json", "openAPI", .server, "Get this document", answers: .json(.map(.any))),
        AdminEndpoint(
            .get, "metrics", "metrics", .server, "Get the metrics in the text format of Prometheus", answers: .text("text/plain")),
        AdminEndpoint(.get, "snapshot", "snapshot", .state, "Get the whole state, sealed", answers: .bytes),
        AdminEndpoint(
            .put, "snapshot", "restore", .state, "Restore a state", body: .bytes,
            answers: .object(.required("rows", .integer, "The number of rows"))),
        AdminEndpoint(.post, "reset", "reset", .state, "Reset the state and the clock, and disable all faults"),
    ]

    private static let testing = [
        AdminEndpoint(.get, "clock", "clock", .clock, "Read the clock", answers: .model(.clock)),
        AdminEndpoint(
            .put, "clock", "setClock", .clock, "Set, stop or continue the clock", body: .model(.newClock), answers: .model(.clock)
        ),
        AdminEndpoint(.delete, "clock", "resetClock", .clock, "Return to the machine's time", answers: .model(.clock)),
        AdminEndpoint(
            .post, "clock/advance", "advanceClock", .clock, "Move the clock",
            body: .object(.required("seconds", .number, "The seconds to move it by; backwards if negative")),
            answers: .model(.clock)),
        AdminEndpoint(.post, "clock/resume", "resumeClock", .clock, "Continue a stopped clock", answers: .model(.clock)),
        AdminEndpoint(
            .get, "faults", "faults", .faults, "List the enabled faults, and the kinds and routes that exist",
            answers: .object(
                .required("faults", .list(.model(.fault))), .required("kinds", .list(.string)),
                .required("routes", .list(.string)))
        ),
        AdminEndpoint(
            .post, "faults", "enableFault", .faults, "Enable a fault", body: .model(.newFault), statuses: [.created],
            answers: .model(.fault)),
        AdminEndpoint(.delete, "faults", "disableFaults", .faults, "Disable all faults"),
        AdminEndpoint(.delete, "faults/:name", "disableFault", .faults, "Disable a fault"),
        AdminEndpoint(
            .get, "request-log", "requestLog", .log, "Read the request log, or wait for an entry", query: logParameters,
            answers: .object(
                .required("count", .integer, "The number of all matching entries"),
                .required("last", .integer, "The newest number of all entries"), .required("entries", .list(.model(.logEntry))))),
        AdminEndpoint(.delete, "request-log", "clearRequestLog", .log, "Delete all entries of the request log"),
        AdminEndpoint(
            .get, "logins", "logins", .logins, "List the logins, oldest first",
            query: [
                .optional("journey", .string), anyRealm, .optional("user", .string),
                .optional("state", .choice(LoginFilter.states)), .optional("after", .integer, "Only logins with a higher number"),
                .optional("limit", .integer, "The number of logins, the newest ones"),
            ],
            answers: .object(
                .required("count", .integer, "The number of all matching logins"),
                .required("last", .integer, "The newest number of all logins"), .required("logins", .list(.model(.login))))),
        AdminEndpoint(.delete, "logins", "clearLogins", .logins, "Delete the records of all logins"),
        AdminEndpoint(
            .get, "logins/:number", "login", .logins, "Describe a login with the nodes of its journey",
            answers: .model(.loginDetails)),
    ]

    private static let logParameters: [AdminMember] =
        [
            .optional("kind", .choice(RequestLogFilter.Kind.allCases.map(\.rawValue))), .optional("method", .string),
            .optional("path", .string, "A path: `*` is one segment, `**` at the end is any number of segments"),
            .optional("resource", .choice(FaultRoute.names), "The name of an address"),
            .optional("status", .integer, "The status; 0 for entries without a response"),
            .optional("parameter", .string, "The name of a parameter"),
            .optional("step", .choice(RequestLogEntry.Push.Step.allCases.map(\.rawValue))),
            .optional("user", .string, "The recipient of an email"), .optional("action", .string, "The action of SNS"),
            .optional("after", .integer, "Only entries with a higher number"), .optional("since", .timeOrSeconds),
            .optional("fault", .string, "The name of a fault that was applied"),
            .optional("limit", .integer, "The number of entries, the newest ones"),
            .optional("wait", .number, "Waits this number of seconds for an entry, at most 60"),
        ] + ClientMatch.Kind.allCases.map { .optional($0.rawValue, .string, "The client, by one parameter only") }

    private static let accounts = [
        AdminEndpoint(
            .get, "sessions", "sessions", .sessions, "List the sessions, oldest first",
            query: [.optional("user", .string), realm],
            answers: .object(.required("sessions", .list(.model(.session))))),
        AdminEndpoint(
            .post, "sessions", "openSession", .sessions, "Open a session of a user without a journey", query: [realm],
            body: .model(.newSession), statuses: [.created], answers: .model(.openedSession)),
        AdminEndpoint(
            .delete, "sessions", "endSessions", .sessions, "End the sessions of a user, or all sessions",
            query: [.optional("user", .string), realm], answers: .object(.required("ended", .integer, "The number of sessions"))),
        AdminEndpoint(.delete, "sessions/:key", "endSession", .sessions, "End a session", answers: .model(.session)),
        AdminEndpoint(
            .get, "tokens", "tokens", .tokens, "List the access tokens and refresh tokens",
            query: [anyRealm, .optional("user", .string), .optional("client", .string)],
            answers: .object(.required("tokens", .list(.model(.token))))),
        AdminEndpoint(
            .post, "tokens", "issueToken", .tokens, "Issue a signed access token without a login", query: [realm],
            body: .model(.newToken), statuses: [.created], answers: .model(.issuedToken)),
        AdminEndpoint(
            .get, "keys", "keys", .tokens, "List the signing keys",
            answers: .object(.required("keys", .list(.model(.signingKey))))),
        AdminEndpoint(
            .post, "keys", "rotateKeys", .tokens,
            "Make new signing keys; earlier ones stay accepted until their tokens have expired",
            statuses: [.created], answers: .object(.required("keys", .list(.model(.signingKey))))),
        AdminEndpoint(.delete, "tokens/:grant", "revokeTokens", .tokens, "Revoke the tokens of a login"),
        AdminEndpoint(
            .get, "users", "users", .users, "List the users", query: [anyRealm],
            answers: .object(.required("users", .list(.model(.user))))),
        AdminEndpoint(
            .post, "users", "addUser", .users, "Create a user", query: [realm], body: .model(.newUser), statuses: [.created],
            answers: .model(.user)),
        AdminEndpoint(.get, "users/:user", "user", .users, "Describe a user", query: [realm], answers: .model(.user)),
        AdminEndpoint(
            .patch, "users/:user", "changeUser", .users, "Lock or unlock a user, or set the password", query: [realm],
            body: .model(.userChange), answers: .model(.user)),
        AdminEndpoint(
            .delete, "users/:user/devices", "removeDevices", .users, "Remove all devices of a user", query: [realm],
            answers: .model(.user)),
        AdminEndpoint(
            .delete, "users/:user/devices/:kind/:id", "removeDevice", .users, "Remove a device of a user", query: [realm],
            answers: .model(.user)),
    ]

    private static let configuration = [
        AdminEndpoint(
            .get, "clients", "clients", .clients, "List the clients", query: [anyRealm],
            answers: .object(.required("clients", .list(.model(.client))))),
        AdminEndpoint(.get, "clients/:client", "client", .clients, "Describe a client", query: [realm], answers: .model(.client)),
        AdminEndpoint(
            .put, "clients/:client", "putClient", .clients, "Add or replace a client until the next reload, reset or start",
            query: [realm], body: .configuration, statuses: [.ok, .created], answers: .model(.client)),
        AdminEndpoint(.delete, "clients/:client", "deleteClient", .clients, "Remove a client", query: [realm]),
        AdminEndpoint(
            .get, "journeys", "journeys", .journeys, "List the journeys",
            answers: .object(.required("journeys", .list(.model(.journey))))),
        AdminEndpoint(.get, "journeys/:journey", "journey", .journeys, "Describe a journey", answers: .model(.journey)),
        AdminEndpoint(
            .put, "journeys/:journey", "putJourney", .journeys,
            "Add or replace a journey until the next reload, reset or start", body: .configuration, statuses: [.ok, .created],
            answers: .model(.journey)),
        AdminEndpoint(.delete, "journeys/:journey", "deleteJourney", .journeys, "Remove a journey"),
        AdminEndpoint(
            .get, "journeys/:journey/graph", "journeyGraph", .journeys, "Draw a journey", answers: .text("image/svg+xml")),
    ]

    private static let messages = [
        AdminEndpoint(
            .get, "emails", "emails", .messages, "List the emails that were sent, or wait for one",
            query: emailFilter + [.optional("wait", .number, "Waits this number of seconds for an email, at most 60")],
            answers: .object(.required("emails", .list(.model(.email))))),
        AdminEndpoint(
            .delete, "emails", "deleteEmails", .messages, "Delete emails", query: emailFilter,
            answers: .object(.required("deleted", .integer, "The number of emails"))),
        AdminEndpoint(.get, "emails/:id", "email", .messages, "Get an email", answers: .model(.email)),
        AdminEndpoint(.delete, "emails/:id", "deleteEmail", .messages, "Delete an email"),
        AdminEndpoint(
            .get, "pushes", "pushes", .messages, "List the push messages, newest first",
            answers: .object(.required("pushes", .list(.model(.push))))),
        AdminEndpoint(
            .post, "pushes/:id/answer", "answerPush", .messages, "Answer a push message in the place of its device",
            body: .object(.required("approve", .bool, "True to approve the login, false to deny it")),
            answers: .object(.required("messageId", .string), .required("state", .choice(["approved", "denied"])))),
    ]

    private static let emailFilter: [AdminMember] = [
        anyRealm, .optional("user", .string), .optional("to", .string, "The address"), .optional("since", .timeOrSeconds),
    ]
}
