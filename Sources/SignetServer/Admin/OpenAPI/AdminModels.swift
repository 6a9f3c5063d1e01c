import SignetCore

// The objects that the administration API answers and takes. ``AdminJSON`` and the controllers write them; the tests compare each
// response with its model.
extension AdminModel {
    static let error = AdminModel(
        "Error", "An error in the format of AM.",
        [
            .required("code", .integer, "The status"), .required("reason", .string, "The name of the status"),
            .required("message", .string, "What is wrong"),
            .optional("detail", .map(.any), "Further members, such as the problems of a configuration"),
        ])

    static let overview = AdminModel(
        "Overview", "The server at a glance.",
        [
            .required("url", .string, "The base URL of the server"), .required("clock", .model(.clock)),
            .required("realms", .list(.string)), .required("defaultJourney", .string),
            .required("counts", .map(.integer), "The numbers of users, sessions and tokens, at most 10000 each"),
            .required("unreadableRows", .list(.model(unreadableRow)), "Rows of the state that cannot be read"),
        ])

    private static let unreadableRow = AdminModel(
        "UnreadableRow", "A row of the state that cannot be read.",
        [.required("kind", .string), .required("name", .string), .required("reason", .string)])

    static let clock = AdminModel(
        "Clock", "The clock of the server.",
        [
            .required("now", .time), .required("seconds", .number, "The same time in seconds since 1970"),
            .required("offset", .number, "The difference from the machine's clock, in seconds"),
            .required("stopped", .bool, "True when the clock stands still"),
        ])

    static let newClock = AdminModel(
        "NewClock", "A change of the clock; it has at least one member.",
        [
            .optional("now", .timeOrSeconds, "The time to set"),
            .optional("stopped", .bool, "True to stop the clock, false to let it run"),
        ])

    // MARK: Faults

    private static let faultMembers: [AdminMember] = [
        .required("kind", .choice(FaultKind.examples.map(\.name)), "The kind of fault"),
        .optional("route", .string, "The name of a resource, or a path; every route when it is missing"),
        .optional("client", .model(clientMatch), "The client; every client when it is missing"),
        .optional("until", .timeOrSeconds, "The time of the server's clock at which the fault ends"),
        .optional("executed", .bool, "For `status`, `html`, `cut`: whether the server executes the request"),
        .optional("milliseconds", .integer, "For `latency` and `slow-body`: the time"),
        .optional("status", .integer, "For `status`: the status, from 400 to 599"),
        .optional("retryAfter", .integer, "For `status`: the seconds in `Retry-After`"),
        .optional("bytes", .integer, "For `cut` and `truncated`: the number of bytes that are sent"),
    ]

    static let newFault = AdminModel(
        "NewFault", "A fault to enable; only one of `times`, `seconds` and `until`.",
        faultMembers + [
            .optional("name", .string, "The name in the request log; the kind when it is missing"),
            .optional("times", .integer, "The number of requests or push messages that the fault applies to"),
            .optional("seconds", .number, "The duration, by the server's clock"),
        ])

    static let fault = AdminModel(
        "Fault", "An enabled fault.",
        faultMembers + [
            .required("name", .string, "The name in the request log"),
            .required("applied", .integer, "How often the fault was applied"),
            .optional("remaining", .integer, "How often it will still be applied; missing without a limit"),
        ])

    static let clientMatch = AdminModel(
        "ClientMatch", "A client, by one of these members.",
        ClientMatch.Kind.allCases.map { .optional($0.rawValue, .string) })

    // MARK: Request log

    /// An entry has the members of its kind only.
    static let logEntry = AdminModel(
        "LogEntry", "An entry of the request log; the members depend on `kind`.",
        [
            .required("number", .integer), .required("at", .time),
            .required("faults", .list(.string), "The names of the faults that were applied"),
            .required("kind", .choice(RequestLogFilter.Kind.allCases.map(\.rawValue))),
            .optional("method", .string), .optional("path", .string),
            .optional("resource", .string, "The name of the address, as in `route` of a fault"),
            .optional("status", .integer, "The status of the response; 0 when there was none"),
            .optional("milliseconds", .number), .optional("problem", .string, "The error code of the response"),
            .optional("parameters", .map(.nullableString), "Each parameter by its name; null for a value that is not kept"),
            .optional("client", .model(clientMatch)),
            .optional("step", .choice(RequestLogEntry.Push.Step.allCases.map(\.rawValue)), "What became of a push message"),
            .optional("messageId", .string), .optional("device", .string), .optional("stream", .integer),
            .optional("reason", .string), .optional("user", .string), .optional("realm", .string),
            .optional("action", .string, "The action of SNS"),
            .optional("attempt", .integer, "The number of the attempt to send a logout token"),
        ])

    // MARK: Sessions and tokens

    static let session = AdminModel(
        "Session", "A session, without its token. One that cannot be read has only `key` and `unreadable`.",
        [
            .required("key", .string, "The key for requests about this session"), .optional("user", .string),
            .optional("realm", .string), .optional("journeys", .list(.string), "The journeys that the session has completed"),
            .optional("startedAt", .time), .optional("idleEnd", .time, "When the session ends without use"),
            .optional("end", .time, "When the session ends in any case"), .optional("unreadable", .bool),
        ])

    static let newSession = AdminModel(
        "NewSession", "A session to open without a journey.",
        [
            .required("user", .string), .optional("realm", .string),
            .optional("journey", .string, "The journey that the session has completed; the default journey when it is missing"),
            .optional("properties", .map(.string), "The properties of the session"),
            .optional("idleSeconds", .integer, "How long the session lasts without use"),
            .optional("maxSeconds", .integer, "How long the session lasts in any case"),
        ])

    static let openedSession = AdminModel(
        "OpenedSession", "A new session with its token, as the end of a journey answers it.",
        [
            .required("tokenId", .string), .required("successUrl", .string), .required("realm", .string),
            .required("key", .string), .required("cookie", .model(cookie)),
        ])

    private static let cookie = AdminModel(
        "Cookie", "The cookie of a session, with the members that browser automation takes.",
        [
            .required("name", .string), .required("value", .string), .required("path", .string), .required("httpOnly", .bool),
            .required("secure", .bool), .required("sameSite", .string), .optional("domain", .string),
        ])

    static let token = AdminModel(
        "Token", "A token, without its value.",
        [
            .required("kind", .choice(["access", "refresh"])), .required("grant", .string, "The login that it belongs to"),
            .required("client", .string), .required("realm", .string),
            .optional("user", .string, "The user; missing for a token without one"), .required("scopes", .list(.string)),
            .optional("session", .string, "The key of the session; missing for a token without one"),
            .required("issuedAt", .time), .required("expiresAt", .time),
            .optional("spentAt", .time, "When a refresh token was exchanged"),
        ])

    // MARK: Users and messages

    static let user = AdminModel(
        "User", "A user.",
        [
            .required("name", .string), .required("realm", .string),
            .required("locked", .bool, "True when the account is locked: no session and no token is valid"),
            .required("lockedOut", .bool, "True after too many wrong passwords"),
            .required("lockedFactors", .list(.string), "The factors with too many wrong answers"),
            .required("devices", .list(.model(device))), .required("sessions", .integer, "The number of sessions"),
        ])

    private static let device = AdminModel(
        "Device", "A device with the members that AM has for its kind.", isOpen: true,
        [.required("kind", .choice(DeviceKind.allCases.map(\.rawValue))), .required("_id", .string)])

    static let newUser = AdminModel(
        "NewUser", "A user to create.",
        [
            .required("name", .string), .required("password", .string), .optional("realm", .string),
            .optional("claims", .map(.any), "The claims of the user by name, for example `email`"),
        ])

    static let userChange = AdminModel(
        "UserChange", "A change of a user.",
        [
            .optional("locked", .bool, "False also ends the lockouts after wrong answers"),
            .optional("password", .string, "A new password, which ends the sessions and tokens of the user"),
        ])

    static let email = AdminModel(
        "Email", "An email that a journey sent. An old one can have only its user and link.",
        [
            .required("id", .string), .required("user", .string), .required("realm", .string),
            .required("userExists", .bool, "False when the user does not exist yet"),
            .optional("link", .string, "The link that continues the journey"), .optional("code", .string, "The code in the text"),
            .optional("to", .string), .optional("sentAt", .time), .optional("subject", .string), .optional("text", .string),
            .optional("html", .string),
            .optional("delivery", .choice(["queued", "delivered", "failed"]), "What became of it at the mail server"),
            .optional("reason", .string, "Why it could not be delivered"),
        ])

    static let push = AdminModel(
        "Push", "A push message, without its secrets.",
        [
            .required("messageId", .string), .required("device", .string), .required("realm", .string),
            .required("state", .choice(["waiting", "approved", "denied", "expired"])), .required("sentAt", .time),
            .required("deadline", .time), .required("streams", .integer, "The number of open streams of the device"),
            .optional("user", .string), .optional("number", .integer, "The number of a number challenge"),
            .required("delivery", .choice(["stream", "queued", "sent", "undeliverable"])),
            .optional("snsMessageId", .string), .optional("reason", .string),
        ])
}
