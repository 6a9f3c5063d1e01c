import Foundation
import SignetCore

/// The answer that moved a login flow to its current page.
///
/// A browser that sends a form twice may discard the response to the first one, with the new cookie. It proves with the old cookie
/// and the same answer from the same network address that it is the browser of the user.
///
/// An attacker that has planted the old cookie may also know the whole form, for example one with only a user name. An answer is
/// therefore not repeatable when the journey waits for something outside the browser, such as a push approval or an email, because
/// the user would complete the login for the attacker. In the other cases, the attacker could have sent the form itself.
struct AcceptedAnswer: Codable, Sendable {
    /// The hash of the cookie with which the answer was sent.
    let browser: TokenHash
    /// The network address from which the answer was sent; nil for a client in this process.
    let address: String?
    /// A MAC of the form.
    let proof: String
    /// The time until which the answer may be repeated.
    let end: Date
}

/// The result of a successful flow.
struct LoginFlowEnd: Codable, Sendable {
    let user: UserKey
    let tree: String
    /// The token of the session, until the browser has got it; nil without a session.
    var token: Secret?
    /// True when the browser has got the token.
    var isCollected: Bool?
    /// The session whose token was in the response to the last form; nil when the browser has got it otherwise.
    var session: TokenHash?
    /// The values of `Set-Cookie` that the nodes of the journey add to the response with the token; nil for none.
    var cookies: [Secret]?
}
