import HTTPTypes
import Hummingbird
import SignetCore

extension AdminController {
    /// Answers with the OpenAPI document of the administration API.
    func openAPI(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        return try reply(OpenAPIDocument.value(url: "\(server.localURL)/admin"))
    }
}
