import HTTPTypes
package import SignetCore

/// The OpenAPI document of the administration API, made from ``AdminEndpoint/all``.
package enum OpenAPIDocument {
    /// Returns the document, in version 3.1 of OpenAPI.
    /// - Parameter url: The address of the administration API, without a slash at its end.
    /// - Returns: The document as an object.
    package static func value(url: String) -> JSONValue {
        let endpoints = AdminEndpoint.all
        var paths: [String: [String: JSONValue]] = [:]
        for endpoint in endpoints {
            paths[path(of: endpoint), default: [:]][endpoint.method.rawValue.lowercased()] = operation(endpoint)
        }
        let models = endpoints.flatMap { $0.answer.schema.models + ($0.body?.schema.models ?? []) } + [.error]
        return .object([
            "openapi": .string("3.1.0"),
            "info": .object([
                "title": .string("The administration API of signet serve"), "version": .string("1.0.0"),
                "description": .string(description),
                "license": .object(["name": .string("Apache-2.0"), "identifier": .string("Apache-2.0")]),
            ]),
            "servers": .array([.object(["url": .string(url)])]),
            "security": .array([.object(["token": .array([])])]),
            "tags": .array(AdminEndpoint.Group.allCases.map { .object(["name": .string($0.rawValue)]) }),
            "paths": .object(paths.mapValues { .object($0) }),
            "components": .object([
                "securitySchemes": .object(["token": .object(["type": .string("http"), "scheme": .string("bearer")])]),
                "schemas": .object(
                    Dictionary(models.map { ($0.name, $0.json) }, uniquingKeysWith: { first, _ in first })),
            ]),
        ])
    }

    /// Text of the document that is not part of an endpoint.
    private static let description = """
        With these requests a program on the same machine controls a server for tests: its clock, faults, users and state. Each \
        request has the token that --admin-token-file names. Without it the response is 401, and for other machines and pages in \
        a browser it is 404. An unknown parameter and an unknown member get a 400 response. A JSON response to GET has an ETag; a \
        request with it in If-None-Match gets a 304 response while nothing has changed.
        """

    /// Returns the path with its parameters in braces.
    static func path(of endpoint: AdminEndpoint) -> String {
        let segments = endpoint.path.split(separator: "/").map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }
        return "/" + segments.joined(separator: "/")
    }

    private static func operation(_ endpoint: AdminEndpoint) -> JSONValue {
        let ok: [String: JSONValue] = response(endpoint.summary, endpoint.answer)
        var responses = Dictionary(
            endpoint.statuses.map { (String($0.code), JSONValue.object(ok)) }, uniquingKeysWith: { first, _ in first })
        responses["default"] = .object(response("The request was refused.", .model(.error)))
        var members: [String: JSONValue] = [
            "operationId": .string(endpoint.id), "summary": .string(endpoint.summary),
            "tags": .texts([endpoint.group.rawValue]), "responses": .object(responses),
        ]
        let parameters =
            endpoint.pathParameters.map { parameter($0, in: "path") } + endpoint.query.map { parameter($0, in: "query") }
        if !parameters.isEmpty { members["parameters"] = .array(parameters) }
        members["requestBody"] = endpoint.body.map { .object(["required": .bool(true), "content": content($0)]) }
        return .object(members)
    }

    private static func response(_ description: String, _ body: AdminEndpoint.Content) -> [String: JSONValue] {
        ["description": .string(description), "content": content(body)]
    }

    private static func content(_ content: AdminEndpoint.Content) -> JSONValue {
        let schema = JSONValue.object(["schema": .object(content.schema.json)])
        return .object(Dictionary(content.types.map { ($0, schema) }, uniquingKeysWith: { first, _ in first }))
    }

    private static func parameter(_ parameter: AdminMember, in place: String) -> JSONValue {
        .object([
            "name": .string(parameter.name), "in": .string(place), "required": .bool(parameter.isRequired),
            "schema": .object(parameter.schema.json), "description": .string(parameter.about),
        ])
    }
}
