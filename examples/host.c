/* Web search for an agent written in C, by Groundwire's HTTP API.
 *
 *     cc -o host examples/host.c -lcurl
 *     ./host http://127.0.0.1:8780 prepare openai < request.json
 *     ./host http://127.0.0.1:8780 web_search '{"query": "rank fusion"}'
 *
 * The first prints the request to send: with the provider's own search where it has one, else with a function tool.
 * The second runs that tool with the arguments that the model wrote, and prints the text for the model.
 * A key of the server is read from GROUNDWIRE_KEY.
 */

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 4096L /* bytes of an address */

static char *read_all(FILE *in)
{
    size_t size = 0, room = 65536;
    char *text = malloc(room);
    while (text) {
        size += fread(text + size, 1, room - size - 1, in);
        if (size < room - 1)
            break;
        room *= 2;
        char *more = realloc(text, room);
        if (!more)
            free(text);
        text = more;
    }
    if (text)
        text[size] = '\0';
    return text;
}

/* Posts JSON and prints the answer; returns the exit code of the program. */
static int post(const char *url, const char *body, const char *accept)
{
    char header[LONGEST], error[CURL_ERROR_SIZE] = "";
    const char *key = getenv("GROUNDWIRE_KEY");
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    long status = 0;

    headers = curl_slist_append(headers, accept);
    if (key && snprintf(header, sizeof header, "X-API-Key: %s", key) < (int)sizeof header)
        headers = curl_slist_append(headers, header);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 60L);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
    CURLcode result = curl_easy_perform(curl); /* without CURLOPT_WRITEFUNCTION it writes to stdout */
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    if (result != CURLE_OK)
        fprintf(stderr, "%s: %s\n", url, error[0] ? error : curl_easy_strerror(result));
    return result != CURLE_OK || status != 200;
}

int main(int argc, char **argv)
{
    char url[LONGEST];
    int failed;

    if (argc != 4) {
        fprintf(stderr, "usage: %s SERVER prepare PROVIDER < REQUEST\n       %s SERVER TOOL ARGUMENTS\n", argv[0], argv[0]);
        return 2;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    if (strcmp(argv[2], "prepare") == 0) {
        char *provider = curl_easy_escape(NULL, argv[3], 0), *body = read_all(stdin);
        snprintf(url, sizeof url, "%s/v1/prepare?provider=%s", argv[1], provider ? provider : "");
        failed = post(url, body ? body : "", "Accept: application/json");
        curl_free(provider);
        free(body);
    } else {
        snprintf(url, sizeof url, "%s/v1/tools/%s", argv[1], argv[2]);
        failed = post(url, argv[3], "Accept: text/plain");
    }
    curl_global_cleanup();
    return failed;
}
