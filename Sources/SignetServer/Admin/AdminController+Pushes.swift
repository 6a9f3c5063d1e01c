import HTTPTypes
import Hummingbird
import SignetCore

extension AdminController {
    /// Approves or denies a push message in the place of its device.
    func answerPush(_ request: Request, context: AppRequestContext) async throws -> Response {
        _ = try AdminQuery(request)
        let id = try context.parameter("id")
        var body = try await AdminBody(request, context)
        let isApproved = try body.required("approve", body.bool("approve"))
        try body.end()
        let answer = try await server.store.write { tx in try tx.decide(id, isApproved) }
        switch answer {
        case .success(let answer): return try reply(.object(["messageId": .string(id), "state": .string(answer.state.rawValue)]))
        case .failure(.contradiction): throw APIError(.conflict, "The message was answered with the other decision.")
        case .failure(.expired): throw APIError(.conflict, "The message has expired.")
        case .failure, nil: throw APIError(.notFound, "There is no such push message.")
        }
    }
}
