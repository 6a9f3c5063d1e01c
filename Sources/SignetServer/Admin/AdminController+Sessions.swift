import HTTPTypes
import Hummingbird
import SignetCore

extension AdminController {
    /// The maximum time of a session in seconds: a century.
    private static let maxSeconds = 3_153_600_000

    /// Opens a session of a user without a journey, and answers as the end of a journey does.
    func openSession(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = try realm(AdminQuery(request, knows: ["realm"]))
        var body = try await AdminBody(request, context)
        let name = try body.required("user", body.text("user"))
        let targetRealm = try body.text("realm").map { RealmPath($0) } ?? realm ?? .root
        let journey = try body.text("journey")
        let options = try SessionOptions(
            properties: Self.properties(body.object("properties") ?? [:]), idleTime: Self.seconds("idleSeconds", &body),
            maximumTime: Self.seconds("maxSeconds", &body))
        try body.end()
        let user = UserKey(realm: targetRealm, name: name)
        let token = try await operations.openSession(of: user, journey: journey, options)
        let cookie = SessionCookie(server.time)
        var response = try reply(
            .object([
                "tokenId": .string(token), "successUrl": .string(server.defaultSuccessURL),
                "realm": .string(user.realm.description), "key": .string(TokenHash(token).text),
                "cookie": cookie.description(token, in: server.configuration),
            ]), .created)
        for field in server.cookies(session: token) { response.headers.append(field) }
        return response
    }

    private static func properties(_ members: [String: JSONValue]) throws(APIError) -> [String: String] {
        var properties: [String: String] = [:]
        for (name, value) in members {
            guard let text = value.string else { throw APIError(.badRequest, "'properties' are strings by name.") }
            guard !name.isEmpty, !SessionsController.ownProperties.contains(name) else {
                throw APIError(.badRequest, "The server sets the session property '\(name.prefix(64))' itself.")
            }
            properties[name] = text
        }
        return properties
    }

    private static func seconds(_ name: String, _ body: inout AdminBody) throws(APIError) -> Int? {
        guard let seconds = try body.integer(name) else { return nil }
        guard (1...maxSeconds).contains(seconds) else {
            throw APIError(.badRequest, "'\(name)' is a number of seconds from 1 to \(maxSeconds).")
        }
        return seconds
    }
}

extension SessionCookie {
    /// Returns the cookie of a session as an object with the members that browser automation takes: name, value, path, attributes.
    fileprivate func description(_ token: String, in configuration: ServerConfiguration) -> JSONValue {
        var members: [String: JSONValue] = [
            "name": .string(name), "value": .string(token), "path": .string("/"),
            "httpOnly": .bool(configuration.cookieIsHTTPOnly), "secure": .bool(hasSecure),
            "sameSite": .string(configuration.cookieSameSite.rawValue),
        ]
        members["domain"] = configuration.cookieDomain.map { .string($0) }
        return .object(members)
    }
}
