extension Result where Failure == any Error, Success: Sendable {
    /// Runs `body` and keeps its value or its error.
    package init(of body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
