import SignetCore
import SignetNetwork

/// The administration API of the demo's server: its clock and its users.
///
/// See docs/reference/admin.md.
struct DemoAdministration {
    let url: String
    let token: String
    let transport: any HTTPTransport

    /// Moves the server's clock forward.
    func advanceClock(bySeconds seconds: Int) async throws {
        try await send("POST", "/clock/advance", .object(["seconds": .integer(Int64(seconds))]))
    }

    /// Makes the server's clock show the machine's time again.
    func resetClock() async throws {
        try await send("DELETE", "/clock")
    }

    /// Adds a user to the realm `/`.
    func addUser(_ name: String, password: String) async throws {
        try await send("POST", "/users", .object(["name": .string(name), "password": .string(password)]))
    }

    private func send(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws {
        var request = HTTPRequest(method, url + path, headers: ["Authorization": "Bearer \(token)"])
        if let body {
            request.headers.append("Content-Type", "application/json")
            request.body = JSON.encode(body)
        }
        let response = try await transport.send(request)
        guard (200..<300).contains(response.status) else {
            throw DemoFailure("the server refused \(method) \(path) with status \(response.status)")
        }
    }
}
