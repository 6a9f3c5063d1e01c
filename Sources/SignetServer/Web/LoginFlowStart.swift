import SignetCore

/// A request to start a login flow.
struct LoginFlowStart: Sendable {
    enum Kind: Sendable {
        case journey(JourneyStart)
        case email(token: String)
    }

    var kind: Kind
    var realm: RealmPath
    var query: String
    /// The requested URL to go to after the login.
    var goto: String?
    /// The network address of the browser; nil for a client in this process.
    var address: String?
    /// The cookies of the browser's other flows.
    var cookies: [LoginCookie.Received]
    /// The id of a failed flow of the browser that this one repeats; nil for none.
    var repeated: String?
}

/// An answer to a page of a login flow.
struct LoginAnswer: Sendable {
    /// The id of the flow.
    let flow: String
    /// The number of the page.
    let page: Int
    /// The hashes of the flow's cookies, as the browser sent them.
    let browsers: [TokenHash]
    /// The submitted form.
    let form: Parameters
    /// The browser's `User-Agent`.
    let userAgent: String?
    /// The network address of the browser; nil for a client in this process.
    let address: String?
    /// The values of the browser's ``DeviceCookie``.
    let devices: [String]
}
